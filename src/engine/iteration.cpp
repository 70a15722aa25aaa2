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

// Invalid: with nobody.
ServerId IterationTimer::exchanges_with(const TaskGraph& graph, const ReplicaPlaces& places,
                                        std::size_t partition) {
  if (graph.comm == CommStructure::kParameterServer) return places.parameter_server.server;
  if (graph.comm == CommStructure::kAllReduce && !places.next.empty()) {
    return places.next[partition].server;
  }
  return {};
}

Picoseconds IterationTimer::exchange(const TaskGraph& graph, const ReplicaPlaces& places,
                                     std::vector<PairBytes>& pairs) {
  Picoseconds longest = 0;
  for (std::size_t k = 0; k < places.own.size(); ++k) {
    const ServerId from = places.own[k].server;
    const ServerId to = exchanges_with(graph, places, k);
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

Picoseconds IterationTimer::with_copies(const TaskGraph& graph, const ReplicaPlaces& places,
                                        std::span<const std::int64_t> slowdown_ppm,
                                        std::span<const CopyPace> copies,
                                        std::vector<PairBytes>& pairs) {
  pairs.clear();
  runners_.clear();
  first_.clear();
  std::size_t copy = 0;
  for (std::size_t k = 0; k < graph.tasks.size(); ++k) {
    first_.push_back(runners_.size());
    if (!places.own[k].server.valid()) continue;
    runners_.push_back({places.own[k].server, slowdown_ppm[k]});
    for (; copy < copies.size() && copies[copy].partition == k; ++copy) {
      runners_.push_back({copies[copy].server, copies[copy].slowdown_ppm});
    }
  }
  first_.push_back(runners_.size());
  const auto runners_of = [&](std::size_t k) {
    return std::span(runners_).subspan(first_[k], first_[k + 1] - first_[k]);
  };
  // A task that is not placed takes no time, as without copies.
  start_.assign(graph.tasks.size(), 0);
  Picoseconds end = 0;
  Picoseconds exchange = 0;
  std::size_t edge = 0;
  for (std::size_t k = 0; k < graph.tasks.size(); ++k) {
    ServerId winner;
    Picoseconds done = kLongestIteration;
    const ServerId peer = exchanges_with(graph, places, k);
    const std::int64_t exchanged = graph.tasks[k].exchange_bytes;
    for (const Runner& runner : runners_of(k)) {
      const auto own = static_cast<Int128>(graph.tasks[k].compute_us) * runner.slowdown_ppm;
      const Picoseconds runner_done = bounded(runner.start + bounded(own));
      if (!winner.valid() || runner_done < done) {
        winner = runner.server;
        done = runner_done;
      }
      if (peer.valid()) add_pair(runner.server, peer, exchanged, pairs);
    }
    if (!winner.valid()) done = start_[k];
    end = std::max(end, done);
    if (winner.valid() && peer.valid()) {
      exchange = std::max(exchange, transfer(winner, peer, exchanged));
    }
    for (; edge < graph.edges.size() && graph.edges[edge].from == k; ++edge) {
      const TaskEdge& data = graph.edges[edge];
      start_[data.to] = std::max(start_[data.to], done);
      for (Runner& to : runners_of(data.to)) {
        Picoseconds sent = 0;
        if (winner.valid()) {
          sent = transfer(winner, to.server, data.bytes);
          add_pair(winner, to.server, data.bytes, pairs);
        }
        to.start = std::max(to.start, bounded(done + sent));
      }
    }
  }
  return bounded(end + exchange);
}

}  // namespace berth
