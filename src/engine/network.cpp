#include "engine/network.h"

#include <algorithm>

#include "base/int128.h"

namespace berth {

std::int64_t demand_bytes_per_s(std::int64_t bytes, Picoseconds pace) {
  constexpr Int128 kMost = 1'000'000'000'000'000;  // so that the sum over a link stays in range
  const Int128 scaled = static_cast<Int128>(bytes) * kPicosecondsPerS;
  return static_cast<std::int64_t>(std::min(kMost, divide_up(scaled, pace)));
}

Picoseconds time_at_rate(std::int64_t bytes, std::int64_t rate_bytes_per_s) {
  const Int128 scaled = static_cast<Int128>(bytes) * kPicosecondsPerS;
  constexpr Int128 kLongest = INT64_MAX / 4;
  return static_cast<Picoseconds>(std::min(kLongest, divide_up(scaled, rate_bytes_per_s)));
}

Network::Network(const Cluster& cluster) : links_(cluster.servers.size()) {
  for (std::size_t s = 0; s < links_.size(); ++s) {
    links_[s].capacity_bytes_per_s = cluster.servers[s].capacity[Resource::kNetBytesPerS];
  }
}

void Network::touch(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

std::uint32_t Network::join(std::uint32_t link, FlowRef ref, std::int64_t demand) {
  touch(link);
  links_[link].demand_bytes_per_s += demand;
  links_[link].flows.push_back(ref);
  return static_cast<std::uint32_t>(links_[link].flows.size() - 1);
}

void Network::leave(std::uint32_t link, std::uint32_t position, std::int64_t demand) {
  touch(link);
  std::vector<FlowRef>& flows = links_[link].flows;
  links_[link].demand_bytes_per_s -= demand;
  flows[position] = flows.back();
  flows.pop_back();
  if (position == flows.size()) return;
  FlowState& moved = state(flows[position]);
  (moved.flow.link_a == link ? moved.position_a : moved.position_b) = position;
}

void Network::set(std::uint32_t replica, std::span<const PairBytes> pairs, Picoseconds pace) {
  std::vector<FlowState>& flows = flows_[replica];
  for (const FlowState& old : flows) {
    leave(old.flow.link_a, old.position_a, old.flow.demand_bytes_per_s);
    leave(old.flow.link_b, old.position_b, old.flow.demand_bytes_per_s);
  }
  flows.clear();
  for (const PairBytes& pair : pairs) {
    const std::int64_t demand = demand_bytes_per_s(pair.bytes, pace);
    const FlowRef ref{replica, static_cast<std::uint32_t>(flows.size())};
    flows.push_back({.flow = {pair.server_a, pair.server_b, demand},
                     .bytes = pair.bytes,
                     .rate_bytes_per_s = demand});
    // Not before it is in the list: a link moves its last flow when another leaves.
    flows.back().position_a = join(pair.server_a, ref, demand);
    flows.back().position_b = join(pair.server_b, ref, demand);
  }
}

void Network::reach(std::uint32_t link) {
  if (links_[link].local != kNoLocal) return;
  links_[link].local = static_cast<std::uint32_t>(reached_.size());
  reached_.push_back(link);
}

// The links that were or are short among those that changed, what hangs on them through links that
// are short, and every flow over one of these.
void Network::gather() {
  reached_.clear();
  refs_.clear();
  for (const std::uint32_t link : dirty_) {
    links_[link].dirty = false;
    if (links_[link].was_short || links_[link].short_of_capacity()) reach(link);
  }
  dirty_.clear();
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const std::uint32_t link = reached_[i];
    for (const FlowRef ref : links_[link].flows) {
      const Flow& flow = state(ref).flow;
      const std::uint32_t other = flow.link_a == link ? flow.link_b : flow.link_a;
      // Once: from the link that was reached first.
      if (links_[other].local >= links_[link].local) refs_.push_back(ref);
      if (links_[other].short_of_capacity()) reach(other);
    }
  }
}

void Network::resolve(std::vector<std::uint32_t>& changed) {
  if (dirty_.empty()) return;
  gather();
  if (reached_.empty()) return;
  local_capacity_.clear();
  for (const std::uint32_t link : reached_) {
    local_capacity_.push_back(links_[link].capacity_bytes_per_s);
    links_[link].was_short = links_[link].short_of_capacity();
  }
  // All links that are not short may be one that is not limited.
  const auto unlimited = static_cast<std::uint32_t>(local_capacity_.size());
  local_capacity_.push_back(0);
  local_flows_.clear();
  for (const FlowRef ref : refs_) {
    Flow flow = state(ref).flow;
    for (std::uint32_t* link : {&flow.link_a, &flow.link_b}) {
      *link = std::min(links_[*link].local, unlimited);
    }
    local_flows_.push_back(flow);
  }
  solver_.solve(local_flows_, local_capacity_, rates_);
  for (std::size_t i = 0; i < refs_.size(); ++i) {
    FlowState& flow = state(refs_[i]);
    if (flow.rate_bytes_per_s == rates_[i]) continue;
    flow.rate_bytes_per_s = rates_[i];
    changed.push_back(refs_[i].replica);
  }
  for (const std::uint32_t link : reached_) links_[link].local = kNoLocal;
}

Picoseconds Network::least(std::uint32_t replica) const {
  Picoseconds least = 0;
  for (const FlowState& flow : flows_[replica]) {
    if (flow.rate_bytes_per_s >= flow.flow.demand_bytes_per_s) continue;
    least = std::max(least, time_at_rate(flow.bytes, flow.rate_bytes_per_s));
  }
  return least;
}

}  // namespace berth
