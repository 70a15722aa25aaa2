// The tasks of one replica of a training job, and how data flows between them (MLFS, "the
// objects"). All replicas of a job are copies of one graph.
#pragma once

#include <cstdint>
#include <vector>

namespace berth {

enum class CommStructure : std::uint8_t {
  kNone,             // replicas do not exchange: one replica, or nothing to keep in step
  kParameterServer,  // every task of every replica exchanges with the job's parameter server
  kAllReduce,        // task k of a replica exchanges with task k of the next replica, in a ring
};

// A model partition.
struct TaskSpec {
  std::int64_t parameters = 0;      // S_k (MLFS, eq. 2)
  std::int64_t compute_us = 0;      // per iteration, alone, on a GPU of speed 1
  std::int64_t exchange_bytes = 0;  // per iteration, by the communication structure, both ways
};

// Data that flows from one partition to another within an iteration.
struct TaskEdge {
  std::uint32_t from = 0;  // indices into TaskGraph::tasks; from < to
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
};

struct TaskGraph {
  std::vector<TaskSpec> tasks;
  std::vector<TaskEdge> edges;  // sorted by (from, to)
  CommStructure comm = CommStructure::kNone;

  // S_J of MLFS, eq. 2.
  [[nodiscard]] std::int64_t parameters() const {
    std::int64_t sum = 0;
    for (const TaskSpec& task : tasks) sum += task.parameters;
    return sum;
  }
};

}  // namespace berth
