// Predictions from history never look ahead.
#include <gtest/gtest.h>

#include "support/workloads.h"

namespace berth {
namespace {

struct Predicted {
  SimulationResult result;
  std::vector<std::optional<TimeUs>> run_times_us;  // by JobId
};

Predicted run(const Cluster& cluster, const Workload& workload, std::string_view policy_name) {
  Predicted out;
  const auto policy = testing::quick_policy(**find_policy(policy_name));
  const auto predictors = make_predictors("history", workload, 1);
  auto result = simulate(cluster, workload, *policy, **predictors, {.seed = 1});
  EXPECT_TRUE(result) << result.error().text();
  if (result) out.result = *std::move(result);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    out.run_times_us.push_back((*predictors)->run_time_us(JobId{j}));
  }
  return out;
}

// Whatever is still to end at an instant may end otherwise: what was predicted by then is the same.
TEST(HistoryProperty, WhatEndsLaterChangesNoPrediction) {
  std::size_t known = 0;
  std::size_t changed_later = 0;
  for (int i = 0; i < testing::cases(300); ++i) {
    Rng rng(31'000 + static_cast<std::uint64_t>(i));
    const Cluster cluster = testing::random_cluster(rng, false);
    Workload workload = testing::random_workload(rng, cluster, {});
    const TimeUs at_us = workload.jobs[rng.below(workload.jobs.size())].submit_us;
    for (const char* const policy : {"fifo", "srtf", "smith"}) {
      SCOPED_TRACE(::testing::Message() << "case " << i << ", policy " << policy);
      Workload other = testing::workload_of({});
      other.jobs = workload.jobs;
      other.truths = workload.truths;
      other.names = workload.names;
      const Predicted first = run(cluster, workload, policy);
      for (std::size_t j = 0; j < other.jobs.size(); ++j) {
        const JobState& state = first.result.states[j];
        if (state.last_stop_us < at_us && state.ended()) continue;
        TimeUs& work_us = other.truths[j].work_us;
        const TimeUs more_us = static_cast<TimeUs>(rng.below(500)) * kUsPerS;
        work_us = state.first_start_us < at_us ? work_us + more_us : more_us;
      }
      const Predicted second = run(cluster, other, policy);
      for (std::size_t j = 0; j < other.jobs.size(); ++j) {
        if (other.jobs[j].submit_us > at_us) {
          changed_later += first.run_times_us[j] == second.run_times_us[j] ? 0 : 1;
          continue;
        }
        EXPECT_EQ(first.run_times_us[j], second.run_times_us[j]) << "job " << j;
        known += first.run_times_us[j] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(known, static_cast<std::size_t>(testing::cases(1000)));
  EXPECT_GT(changed_later, static_cast<std::size_t>(testing::cases(1000)));
}

}  // namespace
}  // namespace berth
