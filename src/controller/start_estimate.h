// When a job that waits will start: the policy itself, in the simulator, from what is there now,
// over run times drawn from what is believed of them and from how wrong such beliefs have been.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/controller.h"

namespace berth {

// From now on.
struct StartEstimate {
  TimeUs low_us = 0;  // 5 % of the draws are below
  TimeUs median_us = 0;
  TimeUs high_us = 0;  // 95 % are below
  int draws = 0;       // 0: there is no estimate
  std::string why_not;
  // Of the draw in the middle: jobs that wait as well and start before it, first ones first.
  std::vector<JobNumber> ahead;
  // How far predictions have been off: standard deviation of ln(true/predicted), and of how many.
  double log_error = 0;
  std::size_t learned_from = 0;
};

inline constexpr std::size_t kMostJobsToEstimate = 2'000;

// Of a job that the policy sees and that waits. Takes about `budget_us` of time, and at least one
// draw. Not foreseen: jobs that are still to come, servers that fail.
[[nodiscard]] StartEstimate estimate_start(const Controller& controller, JobNumber number,
                                           TimeUs budget_us);

}  // namespace berth
