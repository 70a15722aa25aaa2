#include "policy/berth/accuracy_goal.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

// Reports what an accuracy of 0.9 - 0.8 / (1 + i / 10) after i iterations is: 0.8 after 70.
class Reports final : public Telemetry {
 public:
  std::int64_t done = 0;

  std::optional<std::int64_t> iterations(JobId /*job*/) const override { return done; }
  std::optional<double> iterations_per_s(JobId /*job*/) const override { return std::nullopt; }
  std::optional<double> best_replica_iterations_per_s(JobId /*job*/) const override {
    return std::nullopt;
  }
  std::optional<double> loss(JobId /*job*/, std::int64_t /*iteration*/) const override {
    return std::nullopt;
  }
  std::optional<double> accuracy(JobId /*job*/, std::int64_t iteration) const override {
    if (iteration > done) return std::nullopt;
    return 0.9 - 0.8 / (1 + static_cast<double>(iteration) / 10);
  }
  std::optional<TaskUse> use(JobId /*job*/, std::uint32_t /*task*/) const override {
    return std::nullopt;
  }
};

class AccuracyGoalTest : public ::testing::Test {
 protected:
  AccuracyGoalTest() {
    job_.max_iterations = 100;
    job_.required_accuracy_ppm = 800'000;
    job_.deadline_us = 3'600 * kUsPerS;
  }
  double part_left(std::int64_t done) {
    reports_.done = done;
    ClusterView view;
    view.jobs = std::span(&job_, 1);
    view.telemetry = &reports_;
    const double part = goals_.part_left(view, JobId{0U});
    EXPECT_EQ(part, AccuracyGoals().part_left(view, JobId{0U}));  // whatever was asked before
    return part;
  }
  Job job_;
  Reports reports_;
  AccuracyGoals goals_;
};

TEST_F(AccuracyGoalTest, BeforeAFifthOfTheIterationsAsJobsDoOnAverage) {
  EXPECT_DOUBLE_EQ(part_left(0), 0.35);
  EXPECT_DOUBLE_EQ(part_left(10), 25.0 / 90);
}

TEST_F(AccuracyGoalTest, ThenByWhatWasReported) {
  EXPECT_NEAR(part_left(30), 40.0 / 70, 0.01);
  EXPECT_NEAR(part_left(64), 6.0 / 36, 0.01);
  EXPECT_EQ(part_left(71), 0);
}

TEST_F(AccuracyGoalTest, WhatIsNeverReachedTakesAllIterations) {
  job_.required_accuracy_ppm = 950'000;
  EXPECT_DOUBLE_EQ(part_left(50), 1);
}

TEST_F(AccuracyGoalTest, NothingIsNeededWithoutAGoal) {
  EXPECT_EQ(part_left(100), 0);
  Job job = job_;
  job_.deadline_us = {};
  EXPECT_EQ(part_left(0), 0);
  job_ = job;
  job_.required_accuracy_ppm = -1;
  EXPECT_EQ(part_left(0), 0);
  job_ = job;
  job_.max_iterations = {};
  EXPECT_EQ(part_left(0), 0);
}

}  // namespace
}  // namespace berth
