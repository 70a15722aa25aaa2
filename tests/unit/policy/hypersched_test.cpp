// A schedule of HyperSched worked out by hand.
#include "policy/hypersched/hypersched.h"

#include <gtest/gtest.h>

#include "support/elastic.h"

namespace berth {
namespace {

using testing::ElasticJobs;

std::unique_ptr<Policy> quick_hypersched() {
  const PolicyOption options[] = {{"interval_s", "100"},
                                  {"least_run_s", "0"},
                                  {"patience_h", "0"},
                                  {"startup_s", "0"},
                                  {"least_gain", "0.001"}};
  auto policy = make_hypersched(options);
  EXPECT_TRUE(policy) << policy.error().text();
  return *std::move(policy);
}

// One GPU, two jobs of 1000 iterations of a second. Job 0 lacks 0.1 + 0.8 / (1 + i / 5) and has
// time until 2000 s; at 100 s it still gains 0.034 in the 900 s that it takes: 0.00004 a second.
// Job 1 comes at 50 s, with time until 350 s: it is expected to gain 0.8 / 1000 a second, and takes
// over. It lacks 0.1 + 0.8 / (1 + i / 100): at 200 s 0.13 in 150 s, at 300 s 0.04 in 50 s, still
// more. At 400 s its time is over: it is paused. Job 0 goes on; when it gains less than 0.001 any
// more (at 1100 s) it is paused as well, but has less left than job 1 and ends at 1300 s.
TEST(HyperSched, WhoGainsMostByItsDeadlineGoesFirst) {
  ElasticJobs jobs;
  jobs.add(0, 1, 1000).deadline_us = 2000 * kUsPerS;
  jobs.add(50, 1, 1000).deadline_us = 350 * kUsPerS;
  jobs.curve(0) = {.first_accuracy = 0.1, .last_accuracy = 0.9, .half_iterations = 5};
  jobs.curve(1) = {.first_accuracy = 0.1, .last_accuracy = 0.9, .half_iterations = 100};
  const auto run =
      testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), quick_hypersched);
  EXPECT_EQ(run.result.states[1].first_start_us, 100 * kUsPerS);
  EXPECT_EQ(run.result.states[0].last_start_us, 400 * kUsPerS);
  EXPECT_EQ(run.result.states[0].last_stop_us, 1300 * kUsPerS);
  EXPECT_EQ(run.result.states[1].last_start_us, 1300 * kUsPerS);
  EXPECT_EQ(run.result.states[1].last_stop_us, 2000 * kUsPerS);
  EXPECT_EQ(run.result.preemptions, 2U);
}

// A job that has levelled off after 100 s gives way to one that came later and asks for no accuracy
// in particular; the predicted gain of the first, 0.8 / 101 - 0.8 / 201 at 100 iterations, is
// 0.004, and 0.005 is asked for.
TEST(HyperSched, WhatNoLongerRisesIsPaused) {
  for (const char* const least : {"0.005", "0.003"}) {
    const auto make = [&]() -> std::unique_ptr<Policy> {
      const PolicyOption options[] = {{"interval_s", "100"}, {"least_run_s", "0"},
                                      {"patience_h", "0"},   {"startup_s", "0"},
                                      {"hold", "100"},       {"least_gain", least}};
      return *make_hypersched(options);
    };
    ElasticJobs jobs;
    jobs.add(0, 1, 200).deadline_us = 2000 * kUsPerS;
    jobs.add(50, 1, 1000).deadline_us = 4000 * kUsPerS;
    jobs.curve(0) = {.first_accuracy = 0.1, .last_accuracy = 0.9, .half_iterations = 1};
    const auto run = testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), make);
    EXPECT_EQ(run.result.preemptions, std::string_view(least) == "0.005" ? 1U : 0U);
  }
}

}  // namespace
}  // namespace berth
