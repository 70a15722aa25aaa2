#include "policy/berth/worth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/predictors.h"
#include "model/cluster_state.h"
#include "support/workloads.h"

namespace berth {
namespace {

class WorthTest : public ::testing::Test {
 protected:
  // One job of 600 s on two GPUs, at this instant.
  Worth worth(TimeUs now_us, const Job& changes = {}, std::string_view predict = "oracle",
              bool runs = false, double to_accuracy = 0) {
    Workload jobs = testing::workload_of({{0, 600, 2}});
    Job& job = jobs.jobs[0];
    job.deadline_us = changes.deadline_us;
    job.gpu_milli_per_task = changes.gpu_milli_per_task;
    job.gpu_memory_mib_per_task = changes.gpu_memory_mib_per_task;
    cluster_ = testing::cluster_of("1x2");
    cluster_.gpu_types[0].memory_mib = 16'000;
    ClusterState state(cluster_, jobs.jobs);
    state.arrive();
    if (runs) {
      const TaskPlace tasks[] = {{0, {ServerId{0U}, DeviceId{0U}}},
                                 {1, {ServerId{0U}, DeviceId{1U}}}};
      EXPECT_EQ(state.start_tasks(JobId{0U}, tasks, 0), "");
    }
    const auto predictors = make_predictors(predict, jobs, 1);
    Worth out = worth_of(state.view(now_us), **predictors, JobId{0U}, to_accuracy, settings_);
    heed_deadline(out, state.job(JobId{0U}), now_us, settings_);
    return out;
  }
  WorthSettings settings_{.least_left_s = 60, .unsure = 1, .outlived = 0.5, .goal = 2};
  Cluster cluster_;
};

TEST_F(WorthTest, OneOverWhatIsLeftPerGpu) {
  const Worth waiting = worth(0);
  EXPECT_DOUBLE_EQ(waiting.ends_per_s(), 1.0 / 600);
  EXPECT_DOUBLE_EQ(waiting.density(), 1.0 / 1200);
  EXPECT_DOUBLE_EQ(worth(500 * kUsPerS, {}, "oracle", true).left_s, 100);
  EXPECT_DOUBLE_EQ(worth(590 * kUsPerS, {}, "oracle", true).left_s, 60);
}

// Half of what it has run, once that is more than was predicted.
TEST_F(WorthTest, WhoOutlivesItsPredictionIsTakenToGoOn) {
  EXPECT_DOUBLE_EQ(worth(700 * kUsPerS, {}, "oracle", true).left_s, 350);
}

TEST_F(WorthTest, WithoutAPredictionTheLongerItRanTheLongerItWill) {
  EXPECT_DOUBLE_EQ(worth(0, {}, "none").left_s, 3600);
  EXPECT_DOUBLE_EQ(worth(900 * kUsPerS, {}, "none", true).left_s, 4500);
}

TEST_F(WorthTest, LittleSlackCountsMoreALostDeadlineNothing) {
  Job job;
  job.deadline_us = 600 * kUsPerS;
  EXPECT_DOUBLE_EQ(worth(0, job).weight, 3.0);
  job.deadline_us = 1200 * kUsPerS;
  EXPECT_DOUBLE_EQ(worth(0, job).weight, 2.0);
  job.deadline_us = 599 * kUsPerS;
  EXPECT_DOUBLE_EQ(worth(0, job).weight, 1.0);
}

// Half of its 600 s are needed, and a tenth of that for what may slow it down.
TEST_F(WorthTest, AnAccuracyCountsWhenItIsTimeForIt) {
  const auto with_deadline_at = [&](TimeUs deadline_s) {
    Job job;
    job.deadline_us = deadline_s * kUsPerS;
    return worth(0, job, "oracle", false, 0.5).accuracy_per_s;
  };
  EXPECT_DOUBLE_EQ(with_deadline_at(330), 1.0 / 330);
  EXPECT_DOUBLE_EQ(with_deadline_at(330 + 900), 0.5 / 330);
  EXPECT_DOUBLE_EQ(with_deadline_at(330 + 2 * 900), 0.2 / 330);
  EXPECT_DOUBLE_EQ(with_deadline_at(329), 0);
}

TEST_F(WorthTest, ADeadlineThatMakesADifferenceChangesTheWorthWithTime) {
  Job job;
  job.deadline_us = 500 * kUsPerS;
  EXPECT_FALSE(changes_with_time(worth(0, job), job, 0));
  EXPECT_TRUE(changes_with_time(worth(0, job, "oracle", false, 0.1), job, 0));
  EXPECT_FALSE(
      changes_with_time(worth(0, job, "oracle", false, 0.1), job, job.deadline_us.value()));
  job.deadline_us = 700 * kUsPerS;
  EXPECT_TRUE(changes_with_time(worth(0, job), job, 0));
}

TEST_F(WorthTest, ATaskTakesItsDominantShare) {
  Job job;
  job.gpu_milli_per_task = 250;
  EXPECT_DOUBLE_EQ(worth(0, job).gpus, 0.5);
  job.gpu_memory_mib_per_task = 8'000;
  EXPECT_DOUBLE_EQ(worth(0, job).gpus, 1.0);
}

TEST_F(WorthTest, TermsAddUpToTheOrder) {
  Job job;
  job.deadline_us = 1000 * kUsPerS;
  const Worth own = worth(0, job, "oracle", false, 0.5);
  EXPECT_GT(own.accuracy_per_s, 0);
  std::vector<PriorityTerm> terms;
  terms_of(own, terms);
  double sum = 0;
  for (const PriorityTerm& term : terms) sum += term.value;
  EXPECT_NEAR(sum, std::log(own.density()), 1e-12);
}

}  // namespace
}  // namespace berth
