// How a given alone time is divided into iterations and checkpoints.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace berth::presets {

struct IterationWish {
  TimeUs alone_us = 0;      // the whole run
  TimeUs iteration_us = 0;  // about so long an iteration
  TimeUs least_us = 1;      // and within these, where the run is not shorter than that
  TimeUs most_us = kNever;
  std::uint32_t replicas = 1;  // which all compute at once
  TimeUs checkpoint_every_us = 0;
  TimeUs checkpoint_us = 0;  // to write one
};

// Iterations count those of all replicas: a checkpoint comes after so many of the job, and its time
// is spread over as many.
struct IterationPlan {
  std::int64_t iterations = 1;  // a multiple of the replicas
  TimeUs compute_us = 0;        // of an iteration of one replica
  TimeUs checkpoint_us = 0;     // at most a tenth of the time between two
  std::int64_t checkpoint_iterations = 1;
  // The whole run, rounded up to the microsecond; as wished but for half a microsecond an
  // iteration of each replica.
  TimeUs alone_us = 0;
};

[[nodiscard]] IterationPlan plan_iterations(const IterationWish& wish);

}  // namespace berth::presets
