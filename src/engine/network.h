// The links between servers while many jobs send (simulation.md: max-min fair). A replica at its
// own pace needs so many bytes a second of each pair of servers; where a link cannot carry what all
// need, the flows over it get max-min fair rates, and a replica takes as long as its slowest flow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/iteration.h"
#include "engine/max_min.h"

namespace berth {

class Network {
 public:
  // A link per server; capacity 0: not limited.
  explicit Network(const Cluster& cluster);

  // There are so many replicas, at least as many as before.
  void grow(std::size_t replicas) { flows_.resize(replicas); }

  // What the replica sends in an iteration that takes `pace` if no link is short. Replaces what it
  // sent before; nothing: it has gone.
  void set(std::uint32_t replica, std::span<const PairBytes> pairs, Picoseconds pace);
  // Works out the rates after one or more set(); appends the replicas whose rates changed.
  void resolve(std::vector<std::uint32_t>& changed);
  // The least time of an iteration by the rates of the replica's flows; 0: links do not matter.
  [[nodiscard]] Picoseconds least(std::uint32_t replica) const;

 private:
  struct FlowState {
    Flow flow;
    std::int64_t bytes = 0;
    std::int64_t rate_bytes_per_s = 0;
    std::uint32_t position_a = 0;  // in the lists of its links
    std::uint32_t position_b = 0;
  };
  struct FlowRef {
    std::uint32_t replica = 0;
    std::uint32_t index = 0;
  };
  struct Link {
    std::int64_t capacity_bytes_per_s = 0;
    std::int64_t demand_bytes_per_s = 0;
    std::vector<FlowRef> flows;
    bool dirty = false;
    bool was_short = false;  // when the rates were last worked out
    std::uint32_t local = kNoLocal;

    [[nodiscard]] bool short_of_capacity() const {
      return capacity_bytes_per_s > 0 && demand_bytes_per_s > capacity_bytes_per_s;
    }
  };
  static constexpr std::uint32_t kNoLocal = 0xFFFFFFFFU;

  [[nodiscard]] FlowState& state(FlowRef ref) { return flows_[ref.replica][ref.index]; }
  std::uint32_t join(std::uint32_t link, FlowRef ref, std::int64_t demand);
  void leave(std::uint32_t link, std::uint32_t position, std::int64_t demand);
  void touch(std::uint32_t link);
  void reach(std::uint32_t link);
  void gather();

  std::vector<Link> links_;                    // by ServerId
  std::vector<std::vector<FlowState>> flows_;  // by replica
  std::vector<std::uint32_t> dirty_;
  MaxMin solver_;
  // Scratch of resolve(): the links that hang together, and their flows.
  std::vector<std::uint32_t> reached_;
  std::vector<FlowRef> refs_;
  std::vector<Flow> local_flows_;
  std::vector<std::int64_t> local_capacity_;
  std::vector<std::int64_t> rates_;
};

// Bytes a second that a flow of so many bytes per iteration needs at this pace. At least 1.
[[nodiscard]] std::int64_t demand_bytes_per_s(std::int64_t bytes, Picoseconds pace);
// How long so many bytes take at this rate.
[[nodiscard]] Picoseconds time_at_rate(std::int64_t bytes, std::int64_t rate_bytes_per_s);

}  // namespace berth
