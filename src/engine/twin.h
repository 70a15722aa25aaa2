// The slow twin of the simulator: it keeps the jobs' facts and nothing else, looks at every job to
// find the next instant, works out every speed from scratch and builds every array of the view anew
// each round. It shares with the fast engine the formulas (contention, iteration, max-min rates),
// which have tests of their own, and no code that keeps state; it must write the same event log.
#pragma once

#include "base/result.h"
#include "engine/simulator.h"

namespace berth {

// Of `options` it reads seed, log (needed), progress_rule and faults.
[[nodiscard]] Status simulate_slowly(const Cluster& cluster, const Workload& workload,
                                     Policy& policy, Predictors& predictors,
                                     const SimulationOptions& options);

}  // namespace berth
