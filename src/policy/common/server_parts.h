// Parts of what servers have, where they say what that is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/cluster.h"

namespace berth {

// 0 where the capacity is not stated.
[[nodiscard]] inline double part_of_capacity(std::int64_t used, std::int64_t capacity) {
  return capacity <= 0 ? 0.0 : static_cast<double>(used) / static_cast<double>(capacity);
}

// Of the links of two servers, of those that are stated; 0 if none is.
[[nodiscard]] inline std::int64_t slower_link_bytes_per_s(const Cluster& cluster, ServerId from,
                                                          ServerId to) {
  const std::int64_t a = cluster.servers[from.index()].capacity[Resource::kNetBytesPerS];
  const std::int64_t b = cluster.servers[to.index()].capacity[Resource::kNetBytesPerS];
  return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
}

}  // namespace berth
