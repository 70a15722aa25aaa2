// How a given alone time is divided into iterations and checkpoints, exact to the microsecond.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace berth::presets {

struct IterationWish {
  TimeUs alone_us = 0;      // the whole run
  TimeUs iteration_us = 0;  // about so long an iteration
  TimeUs least_us = 1;      // and within these, where the run is not shorter than that
  TimeUs most_us = kNever;
  std::int64_t most_rounds = INT64_MAX;  // stronger than the lengths above
  TimeUs checkpoint_every_us = 0;
  TimeUs checkpoint_us = 0;  // to write one
};

// rounds * (compute_us + checkpoint_us / checkpoint_iterations) is the alone time, but for half a
// microsecond a round; the quotient is whole.
struct IterationPlan {
  std::int64_t rounds = 1;  // iterations of each replica
  TimeUs compute_us = 0;
  TimeUs checkpoint_us = 0;
  std::int64_t checkpoint_iterations = 1;

  [[nodiscard]] TimeUs iteration_us() const {
    return compute_us + checkpoint_us / checkpoint_iterations;
  }
  [[nodiscard]] TimeUs alone_us() const { return rounds * iteration_us(); }
};

[[nodiscard]] IterationPlan plan_iterations(const IterationWish& wish);

}  // namespace berth::presets
