#include "engine/iteration.h"

#include <algorithm>

namespace berth {
Picoseconds IterationTimer::transfer(ServerId from, ServerId to, std::int64_t bytes) const {
  if (from == to || bytes <= 0) return 0;
  const std::int64_t a = cluster_->servers[from.index()].capacity[Resource::kNetBytesPerS];
  const std::int64_t b = cluster_->servers[to.index()].capacity[Resource::kNetBytesPerS];
  const std::int64_t speed = a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
  if (speed <= 0) return 0;
  return bounded(divide_up(static_cast<Int128>(bytes) * kPicosecondsPerS, speed));
}

void IterationTimer::add_pair(ServerId from, ServerId to, std::int64_t bytes,
                              std::vector<PairBytes>& pairs) {
  if (from == to || bytes <= 0) return;
  const PairBytes pair{std::min(from.value, to.value), std::max(from.value, to.value), bytes};
  const auto same = [&](const PairBytes& other) {
    return other.server_a == pair.server_a && other.server_b == pair.server_b;
  };
  const auto known = std::find_if(pairs.begin(), pairs.end(), same);
  if (known == pairs.end()) {
    pairs.push_back(pair);
  } else {
    known->bytes += bytes;
  }
}

Picoseconds IterationTimer::exchange(const TaskGraph& graph, const ReplicaPlaces& places,
                                     std::vector<PairBytes>& pairs) {
  Picoseconds longest = 0;
  for (std::size_t k = 0; k < places.own.size(); ++k) {
    const ServerId from = places.own[k].server;
    ServerId to;
    if (graph.comm == CommStructure::kParameterServer) {
      to = places.parameter_server.server;
    } else if (graph.comm == CommStructure::kAllReduce && !places.next.empty()) {
      to = places.next[k].server;
    }
    if (!from.valid() || !to.valid()) continue;
    longest = std::max(longest, transfer(from, to, graph.tasks[k].exchange_bytes));
    add_pair(from, to, graph.tasks[k].exchange_bytes, pairs);
  }
  return longest;
}

Picoseconds IterationTimer::alone(const TaskGraph& graph, const ReplicaPlaces& places,
                                  std::span<const std::int64_t> slowdown_ppm,
                                  std::vector<PairBytes>& pairs) {
  pairs.clear();
  start_.assign(graph.tasks.size(), 0);
  Picoseconds end = 0;
  std::size_t edge = 0;
  for (std::size_t k = 0; k < graph.tasks.size(); ++k) {
    const bool placed = places.own[k].server.valid();
    const Picoseconds own =
        placed ? bounded(static_cast<Int128>(graph.tasks[k].compute_us) * slowdown_ppm[k]) : 0;
    const Picoseconds done = bounded(start_[k] + own);
    end = std::max(end, done);
    for (; edge < graph.edges.size() && graph.edges[edge].from == k; ++edge) {
      const TaskEdge& data = graph.edges[edge];
      const Placement& to = places.own[data.to];
      Picoseconds sent = 0;
      if (placed && to.server.valid()) {
        sent = transfer(places.own[k].server, to.server, data.bytes);
        add_pair(places.own[k].server, to.server, data.bytes, pairs);
      }
      start_[data.to] = std::max(start_[data.to], bounded(done + sent));
    }
  }
  return bounded(end + exchange(graph, places, pairs));
}

}  // namespace berth
