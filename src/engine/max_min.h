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
  std::uint32_t link_b = 0;             // link_a again: that link carries it once
  std::int64_t demand_bytes_per_s = 0;  // it never takes more than this
};

// Progressive filling. `capacity_bytes_per_s` by link; 0: not limited. Rates by flow, whole bytes
// per second, rounded down at each bottleneck, so that what rounding leaves on a link goes to those
// who fill it later; a flow with a demand gets at least 1, even over a link that is full. At one
// rate flows with that demand settle first, then links in the order of their numbers.
class MaxMin {
 public:
  // O((flows + links) log). `flows` name links of `capacity_bytes_per_s` only.
  void solve(std::span<const Flow> flows, std::span<const std::int64_t> capacity_bytes_per_s,
             std::vector<std::int64_t>& rates_bytes_per_s);

 private:
  // A link and the rate at which it would be full, or would have been before some of its flows
  // settled for less: never above the true one.
  struct Level {
    std::int64_t rate = 0;
    std::uint32_t link = 0;
  };

  void index_flows(std::span<const Flow> flows, std::span<const std::int64_t> capacity);
  [[nodiscard]] std::int64_t level_of(std::uint32_t link) const;
  void settle(const Flow& flow, std::int64_t rate);
  void settle_link(std::uint32_t link, std::int64_t rate, std::span<const Flow> flows,
                   std::vector<std::int64_t>& rates);

  // Scratch, kept so that solving again allocates nothing.
  std::vector<std::int64_t> left_;        // by link: bytes per second for its open flows
  std::vector<std::uint32_t> open_;       // by link: flows whose rate may still grow
  std::vector<std::uint32_t> by_demand_;  // flows, smallest demand first
  std::vector<std::uint32_t> first_;      // by link: its part of flows_of_
  std::vector<std::uint32_t> flows_of_;
  std::vector<Level> levels_;  // heap, lowest first
};

}  // namespace berth
