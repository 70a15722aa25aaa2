// The truth about training jobs that only the engine knows (simulation.md, a job's progress).
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "curve/learning_curve.h"
#include "model/telemetry.h"

namespace berth {

struct TrainingTruth {
  std::int64_t iterations = 0;  // until it ends by itself
  std::uint32_t first_use = 0;  // task k of the job uses Training::uses[first_use + k]
  TimeUs load_us = 0;           // from a start or restart to the first iteration
  TimeUs checkpoint_us = 0;     // to write a checkpoint; spread over the iterations between two
  std::int64_t checkpoint_iterations =
      0;  // one every so many iterations; 0: none, a stop loses all
  // Whether a preemption or a move writes one more, which costs checkpoint_us and loses only the
  // iteration under way. A failure never does.
  bool checkpoint_on_stop = false;
  std::int64_t state_bytes = 0;  // of one replica: what a restart elsewhere or a move transfers
  LearningCurve curve;
};

// Truth about every job of a workload; nothing of it for as-traced jobs.
struct Training {
  std::vector<TrainingTruth> jobs;  // by JobId; empty: as-traced
  std::vector<TaskUse> uses;
};

}  // namespace berth
