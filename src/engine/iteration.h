// The time of one iteration of a replica where its tasks are now (simulation.md, a job's progress):
// the critical path through its graph, then the exchange with the other replicas or the parameter
// server. And the bytes that go from server to server in it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/int128.h"
#include "model/cluster.h"
#include "model/task_graph.h"
#include "model/view.h"

namespace berth {

// Picoseconds: a microsecond times a factor in parts per million is a whole number of them.
using Picoseconds = std::int64_t;
inline constexpr std::int64_t kPicosecondsPerUs = 1'000'000;
inline constexpr std::int64_t kPicosecondsPerS = 1'000'000'000'000;

// An iteration, and each of its parts, is cut there: 13 days, far beyond any real one, and so far
// below the end of the type that a few of them can be added.
inline constexpr Picoseconds kLongestIteration = std::numeric_limits<Picoseconds>::max() / 8;
[[nodiscard]] constexpr Picoseconds bounded(Int128 ps) {
  return ps < kLongestIteration ? static_cast<Picoseconds>(ps) : kLongestIteration;
}

// What a replica sends between two servers in an iteration, both ways. a < b.
struct PairBytes {
  std::uint32_t server_a = 0;
  std::uint32_t server_b = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const PairBytes&, const PairBytes&) = default;
};

// Where the tasks are; those that are not placed (invalid server) neither compute nor send.
struct ReplicaPlaces {
  std::span<const Placement> own;   // by partition
  std::span<const Placement> next;  // of the next replica in the ring; empty: none to exchange with
  Placement parameter_server;       // invalid: none
};

class IterationTimer {
 public:
  explicit IterationTimer(const Cluster& cluster) : cluster_(&cluster) {}

  // `slowdown_ppm` by partition. Transfers go at the speed of the slower of the two links, as if
  // nobody else sent; who shares a link is the network's business. `pairs` is filled, in order.
  [[nodiscard]] Picoseconds alone(const TaskGraph& graph, const ReplicaPlaces& places,
                                  std::span<const std::int64_t> slowdown_ppm,
                                  std::vector<PairBytes>& pairs);

  // Time of so many bytes between two servers; 0 within one, or where no link limits.
  [[nodiscard]] Picoseconds transfer(ServerId from, ServerId to, std::int64_t bytes) const;

 private:
  void add_pair(ServerId from, ServerId to, std::int64_t bytes, std::vector<PairBytes>& pairs);
  [[nodiscard]] Picoseconds exchange(const TaskGraph& graph, const ReplicaPlaces& places,
                                     std::vector<PairBytes>& pairs);

  const Cluster* cluster_;
  std::vector<Picoseconds> start_;  // scratch, by partition
};

}  // namespace berth
