// Amounts of each kind of resource. The first kinds are known to the code; a cluster may name more
// (up to kMaxResources), which policies treat alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth {

enum class Resource : std::uint8_t {
  kGpuMilli = 0,  // thousandths of a GPU
  kCpuMilli,      // thousandths of a core
  kMemoryMib,     // main memory
  kNetBytesPerS,  // the server's link
  kFirstOther,    // kinds that a cluster names itself start here
};
inline constexpr std::size_t kMaxResources = 6;
inline constexpr std::int64_t kWholeGpuMilli = 1000;

struct ResourceVector {
  std::array<std::int64_t, kMaxResources> amount{};

  [[nodiscard]] std::int64_t operator[](Resource r) const {
    return amount[static_cast<std::size_t>(r)];
  }
  std::int64_t& operator[](Resource r) { return amount[static_cast<std::size_t>(r)]; }

  ResourceVector& operator+=(const ResourceVector& other) {
    for (std::size_t i = 0; i < kMaxResources; ++i) amount[i] += other.amount[i];
    return *this;
  }
  ResourceVector& operator-=(const ResourceVector& other) {
    for (std::size_t i = 0; i < kMaxResources; ++i) amount[i] -= other.amount[i];
    return *this;
  }
  [[nodiscard]] bool fits_in(const ResourceVector& room) const {
    for (std::size_t i = 0; i < kMaxResources; ++i) {
      if (amount[i] > room.amount[i]) return false;
    }
    return true;
  }
  friend bool operator==(const ResourceVector&, const ResourceVector&) = default;
};

}  // namespace berth
