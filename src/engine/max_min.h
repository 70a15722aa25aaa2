// Max-min fair rates of flows over shared links (Bertsekas and Gallager, Data Networks, 1992,
// section 6.5.2): nobody's rate can grow without taking from one that has no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth {

// Bytes per second between two servers' links, which both carry it.
struct Flow {
  std::uint32_t link_a = 0;
  std::uint32_t link_b = 0;
  std::int64_t demand_bytes_per_s = 0;  // it never takes more than this
};

// Progressive filling. `capacity_bytes_per_s` by link; 0: not limited. Rates by flow, whole bytes
// per second, rounded down; a flow with a demand gets at least 1.
class MaxMin {
 public:
  void solve(std::span<const Flow> flows, std::span<const std::int64_t> capacity_bytes_per_s,
             std::vector<std::int64_t>& rates_bytes_per_s);

 private:
  // Scratch, kept so that solving again allocates nothing.
  std::vector<std::int64_t> left_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> by_demand_;
};

}  // namespace berth
