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

// A copy of a task that has loaded: where, and how slow.
struct CopyPace {
  std::uint32_t partition = 0;
  ServerId server;
  std::int64_t slowdown_ppm = 0;
};

class IterationTimer {
 public:
  explicit IterationTimer(const Cluster& cluster) : cluster_(&cluster) {}

  // `slowdown_ppm` by partition. Transfers go at the speed of the slower of the two links, as if
  // nobody else sent; who shares a link is the network's business. `pairs` is filled, in order.
  [[nodiscard]] Picoseconds alone(const TaskGraph& graph, const ReplicaPlaces& places,
                                  std::span<const std::int64_t> slowdown_ppm,
                                  std::vector<PairBytes>& pairs);

  // The same with copies, by partition: each task is done when the first of it and its copies is.
  // Whoever it was sends; every one is sent what it needs, and exchanges as the task does, which
  // makes traffic; but the time is that of whoever was first. The next replica's copies do not
  // matter here.
  [[nodiscard]] Picoseconds with_copies(const TaskGraph& graph, const ReplicaPlaces& places,
                                        std::span<const std::int64_t> slowdown_ppm,
                                        std::span<const CopyPace> copies,
                                        std::vector<PairBytes>& pairs);

  // Time of so many bytes between two servers; 0 within one, or where no link limits.
  [[nodiscard]] Picoseconds transfer(ServerId from, ServerId to, std::int64_t bytes) const;

 private:
  void add_pair(ServerId from, ServerId to, std::int64_t bytes, std::vector<PairBytes>& pairs);
  [[nodiscard]] Picoseconds exchange(const TaskGraph& graph, const ReplicaPlaces& places,
                                     std::vector<PairBytes>& pairs);
  // Who computes a task: itself, or a copy.
  struct Runner {
    ServerId server;
    std::int64_t slowdown_ppm = 0;
    Picoseconds start = 0;
  };
  [[nodiscard]] static ServerId exchanges_with(const TaskGraph& graph, const ReplicaPlaces& places,
                                               std::size_t partition);

  const Cluster* cluster_;
  // Scratch.
  std::vector<Picoseconds> start_;  // by partition
  std::vector<Runner> runners_;     // tasks and their copies, by partition
  std::vector<std::size_t> first_;  // by partition, and one more: in runners_
};

}  // namespace berth
