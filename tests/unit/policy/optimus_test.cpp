// Schedules of Optimus worked out by hand.
#include "policy/optimus/optimus.h"

#include <gtest/gtest.h>

#include "support/elastic.h"

namespace berth {
namespace {

using testing::ElasticJobs;

std::unique_ptr<Policy> quick_optimus() {
  const PolicyOption options[] = {{"interval_s", "10"}, {"least_run_s", "0"}, {"patience_h", "0"}};
  auto policy = make_optimus(options);
  EXPECT_TRUE(policy) << policy.error().text();
  return *std::move(policy);
}

// Two jobs of up to four replicas on four GPUs, 400 and 100 iterations of a second. Each has one
// first. A second one takes the first job from 400 to 200 s, a third to 133 s, a fourth to 100 s; a
// second one takes the other job from 100 to 50 s: gains of 200, 67, 33 and 50, so three and one.
// It stays so, as 3 and 1 iterations a second keep the ratio. At 100 s the second job ends; the
// first has 100 left, at 4 a second.
TEST(Optimus, TheLargestMarginalGainGoesFirst) {
  ElasticJobs jobs;
  jobs.add(0, 4, 400);
  jobs.add(0, 4, 100);
  const auto run =
      testing::run_elastic(testing::servers_of({4}, 0), jobs.workload(), quick_optimus);
  EXPECT_EQ(run.result.states[1].last_stop_us, 100 * kUsPerS);
  EXPECT_EQ(run.result.states[0].last_stop_us, 125 * kUsPerS);
}

// One GPU: of first workers that do not all fit those of the least remaining GPU time run. The
// first job has 40 s left at 60 s, where the next multiple is; the second comes at 55 s for 30 s,
// the third at 55 s for 35 s.
TEST(Optimus, FirstWorkersByTheLeastRemainingTime) {
  ElasticJobs jobs;
  jobs.add(0, 1, 100);
  jobs.add(55, 1, 30);
  jobs.add(55, 1, 35);
  const auto run =
      testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), quick_optimus);
  EXPECT_EQ(run.result.states[1].last_stop_us, 90 * kUsPerS);
  EXPECT_EQ(run.result.states[2].last_stop_us, 125 * kUsPerS);
  EXPECT_EQ(run.result.states[0].last_stop_us, 165 * kUsPerS);
}

// A job of 1000 iterations that stops at an accuracy of 0.8, lacking 0.9 / (1 + i / 10): at
// iteration 35. At 10 s it has shown ten iterations, and 25 s are left by the fit: less than the 30
// of the job that came at 5 s, which waits. By the given iterations it would have been preempted.
TEST(Optimus, TheFitTellsWhereAJobStops) {
  for (const bool stops : {true, false}) {
    ElasticJobs jobs;
    Job& job = jobs.add(0, 1, 1000);
    job.stop = stops ? StopOption::kAccuracy : StopOption::kIterations;
    job.required_accuracy_ppm = 800'000;
    jobs.add(5, 1, 30);
    jobs.curve(0) = {.first_accuracy = 0.1, .last_accuracy = 1.0, .half_iterations = 10};
    const auto run =
        testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), quick_optimus);
    EXPECT_EQ(run.result.preemptions, stops ? 0U : 1U);
    EXPECT_EQ(run.result.states[0].last_stop_us, (stops ? 35 : 1030) * kUsPerS);
  }
}

}  // namespace
}  // namespace berth
