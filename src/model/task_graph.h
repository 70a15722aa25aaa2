// Which tasks make one replica of a job, and how data flows between them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "model/resources.h"

namespace berth {

enum class TaskRole : std::uint8_t { kWorker, kParameterServer };
enum class CommStructure : std::uint8_t { kNone, kParameterServer, kAllReduce };

struct TaskSpec {
  TaskRole role = TaskRole::kWorker;
  std::uint32_t replica = 0;    // which data-parallel copy; the parameter server has none
  std::int64_t parameters = 0;  // S_k (MLFS, eq. 2)
  std::int64_t compute_us = 0;  // per iteration, alone, on a GPU of speed 1; 0: as-traced
  ResourceVector demand;        // declared
};

struct TaskEdge {
  std::uint32_t from = 0;  // indices into TaskGraph::tasks; from < to
  std::uint32_t to = 0;
  std::int64_t bytes = 0;  // per iteration
};

// One graph may serve many jobs (every as-traced job of n GPUs has the same).
struct TaskGraph {
  std::vector<TaskSpec> tasks;
  std::vector<TaskEdge> edges;  // sorted by (from, to)
  CommStructure comm = CommStructure::kNone;
  std::uint32_t replicas = 1;
};

}  // namespace berth
