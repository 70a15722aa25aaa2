#include "report/job_history.h"

#include <gtest/gtest.h>

#include "report/reason_text.h"
#include "support/workloads.h"

namespace berth {
namespace {

using State = JobSpan::State;

std::vector<JobSpan> history_of(std::uint32_t job, const char* policy, const char* cluster_size,
                                const std::vector<testing::SimpleJob>& jobs) {
  const Cluster cluster = testing::cluster_of(cluster_size);
  const Workload workload = testing::workload_of(jobs);
  const auto made = (*find_policy(policy))->make({});
  const auto predictors = make_predictors("oracle", workload, 1);
  JobHistory history(JobId{job});
  SimulationOptions options;
  options.log = &history;
  options.reasons = &history;
  const auto result = simulate(cluster, workload, **made, **predictors, options);
  EXPECT_TRUE(result);
  return history.spans();
}

TEST(JobHistory, WaitsBehindTheHeadOfThenAndThenForItself) {
  // One server of 4: job 0 takes 3 until 100, job 1 wants 4, job 2 wants 1 and waits behind it.
  const auto spans = history_of(2, "fifo", "1x4",
                                {{.submit_s = 0, .run_s = 100, .gpus = 3},
                                 {.submit_s = 10, .run_s = 50, .gpus = 4},
                                 {.submit_s = 20, .run_s = 5, .gpus = 4}});
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].from_us, 20 * kUsPerS);
  EXPECT_EQ(spans[0].to_us, 100 * kUsPerS);
  EXPECT_EQ(spans[0].state, State::kWaits);
  EXPECT_EQ(spans[0].reason.code, ReasonCode::kBehindHead);
  EXPECT_EQ(spans[0].head, JobId{1U});
  EXPECT_EQ(reason_text(spans[0].reason, job_by_number, spans[0].head),
            "waits behind job 1, the head of its queue");
  // At 100 it is the head itself.
  EXPECT_EQ(spans[1].from_us, 100 * kUsPerS);
  EXPECT_EQ(spans[1].reason.code, ReasonCode::kNoFreeDevice);
  EXPECT_EQ(spans[2].from_us, 150 * kUsPerS);
  EXPECT_EQ(spans[2].state, State::kRuns);
  EXPECT_EQ(spans[2].gpus, 4U);
  EXPECT_EQ(spans[2].servers, (std::vector{ServerId{0U}}));
  EXPECT_EQ(spans[3].state, State::kEnded);
  EXPECT_EQ(spans[3].from_us, 155 * kUsPerS);
  EXPECT_EQ(spans[3].to_us, kNever);
}

TEST(JobHistory, APreemptedJobSaysForWhom) {
  const auto spans = history_of(
      0, "srtf", "1x1",
      {{.submit_s = 0, .run_s = 100, .gpus = 1}, {.submit_s = 10, .run_s = 5, .gpus = 1}});
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].state, State::kRuns);
  EXPECT_EQ(spans[1].began, EventKind::kPreempt);
  EXPECT_EQ(spans[1].from_us, 10 * kUsPerS);
  EXPECT_EQ(reason_text(spans[1].reason), "gave way to job 1");
  EXPECT_EQ(spans[2].from_us, 15 * kUsPerS);
  EXPECT_EQ(spans[3].from_us, 105 * kUsPerS);
}

// Under every policy and on random jobs: spans cover the time from the arrival on, and what the
// engine says of the job at the end is what they add up to.
TEST(JobHistory, SpansAgreeWithTheEngine) {
  Rng rng(7);
  for (int i = 0; i < testing::cases(200); ++i) {
    const Cluster cluster = testing::random_cluster(rng, true);
    const Workload workload =
        testing::random_workload(rng, cluster, {.types = true, .shares = true});
    for (const PolicyInfo& info : all_policies()) {
      const auto policy = info.make({});
      const auto predictors = make_predictors("oracle", workload, 1);
      const JobId job{static_cast<std::size_t>(rng.below(workload.jobs.size()))};
      JobHistory history(job);
      SimulationOptions options;
      options.log = &history;
      options.reasons = &history;
      options.progress_rule = rule_for(info, ProgressRule::kWhole);
      const auto result = simulate(cluster, workload, **policy, **predictors, options);
      ASSERT_TRUE(result);
      const auto& spans = history.spans();
      ASSERT_FALSE(spans.empty());
      EXPECT_EQ(spans.front().from_us, workload.jobs[job.index()].submit_us);
      TimeUs ran_us = 0;
      for (std::size_t s = 0; s + 1 < spans.size(); ++s) {
        ASSERT_EQ(spans[s].to_us, spans[s + 1].from_us);
        ASSERT_LE(spans[s].from_us, spans[s].to_us);
        if (spans[s].state == State::kRuns) ran_us += spans[s].to_us - spans[s].from_us;
        EXPECT_EQ(history.at(spans[s].to_us)->from_us, spans[s].to_us);
      }
      EXPECT_EQ(spans.back().to_us, kNever);
      const JobState& state = result->states[job.index()];
      EXPECT_EQ(ran_us, state.attained_us);
      EXPECT_EQ(spans.back().state == State::kEnded, state.ended());
      if (!state.ended()) {
        EXPECT_EQ(spans.back().reason, result->reasons[job.index()]);
      }
    }
  }
}

}  // namespace
}  // namespace berth
