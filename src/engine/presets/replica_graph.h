// The task graph of one replica of a model (MLFS, section on the objects).
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/time.h"
#include "model/task_graph.h"

namespace berth::presets {

// Layers of partitions, each fed by every partition of the layer before: a chain where `width` is
// 1, one task alone where `layers` is 1 too.
struct GraphShape {
  std::uint32_t layers = 1;
  std::uint32_t width = 1;
};

struct ByteRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct ReplicaPlan {
  GraphShape shape;
  std::int64_t parameters = 0;  // S_J, at least one a task
  TimeUs compute_us = 1;        // critical path of an iteration, at least a microsecond a layer
  CommStructure comm = CommStructure::kNone;
  ByteRange bytes;  // of each exchange and edge, uniform
};

// Layers have 0.5 to 1.5 of the mean computing time, parameters likewise; in a layer one partition
// takes the time of the layer and the others 80 to 100 % of it. The critical path is exactly
// `compute_us`, the parameters of the partitions add up to `parameters`.
[[nodiscard]] TaskGraph replica_graph(const ReplicaPlan& plan, Rng& rng);

}  // namespace berth::presets
