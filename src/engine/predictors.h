// What a policy may believe of run times in a simulation (simulation.md, truth and belief).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workload.h"
#include "policy/policy.h"

namespace berth {

// "oracle" (the truth), "noisy:SIGMA" (the truth times a log-normal error of that sigma, drawn once
// a job), "history" (what jobs that ended before took), "none". `workload` must outlive the
// predictor.
[[nodiscard]] Result<std::unique_ptr<Predictors>> make_predictors(std::string_view spec,
                                                                  const Workload& workload,
                                                                  std::uint64_t seed);

// "history" needs no workload: what views show is all that it knows.
[[nodiscard]] std::unique_ptr<Predictors> learn_from_history();

// Run times that are believed, by JobId.
[[nodiscard]] std::unique_ptr<Predictors> believe(std::string name,
                                                  std::vector<TimeUs> run_times_us);

}  // namespace berth
