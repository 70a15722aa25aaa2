#include "policy/gandiva/gandiva.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "policy/gandiva/tenants.h"
#include "support/placing.h"
#include "support/schedules.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

const std::vector<PolicyOption> kTurnsOf4 = {{"round_s", "1"}, {"quantum_s", "4"}};

// One GPU, turns of 4 s, in the order in which jobs began to wait: A, B, C, then A again (since 4
// s) before B (since 8 s).
TEST(Gandiva, RoundRobin) {
  const auto jobs = workload_of({{0, 10, 1}, {1, 6, 1}, {2, 2, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-4 10-14 16-18", "4-8 14-16", "8-10"}));
}

// Nobody waits when A's turn ends: it goes on, and gives way at once when B comes.
TEST(Gandiva, WhoHasHadItsTurnGivesWayAtOnce) {
  const auto jobs = workload_of({{0, 10, 1}, {8, 1, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-8 9-11", "8-9"}));
}

// A wide job does not hold up narrow ones until enough turns have ended: C needs both GPUs, and B's
// turn ends at 7 s. D, which came after C, has A's GPU at 4.5 s, as A has had its turn; A has it
// back for what it has left.
TEST(Gandiva, NothingIsKeptForAWideJob) {
  const auto jobs = workload_of({{0, 5, 1}, {3, 9, 1}, {4, 1, 2}, {4.5, 1, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-4.5 5.5-6", "3-7 8-13", "7-8", "4.5-5.5"}));
}

// No device is empty when B comes; it fits beside A.
TEST(Gandiva, PacksWhereNoDeviceIsEmpty) {
  const auto jobs = workload_of({{0, 10, 1, 400}, {1, 10, 1, 500}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-10", "1-11"}));
}

// B has one GPU, A two: they do not share. B waits for the end of A's turn, then A for two empty
// GPUs.
TEST(Gandiva, OnlyJobsOfAsManyGpusShare) {
  const auto jobs = workload_of({{0, 10, 2, 400}, {1, 3, 1, 400}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-4 7-13", "4-7"}));
}

// Of those that wait the least used is packed first: C (0.2), then there is no room for B (0.5).
TEST(Gandiva, TheLeastUtilisedIsPackedFirst) {
  const auto jobs = workload_of({{0, 3, 1, 400}, {1, 3, 1, 500}, {1, 3, 1, 200}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "gandiva", kTurnsOf4, "none"),
            (Schedule{"0-3", "3-6", "1-4"}));
}

class Speeds final : public Telemetry {
 public:
  // Part of the best speed, by JobId; 0: loads.
  std::vector<double> now;

  [[nodiscard]] std::optional<std::int64_t> iterations(JobId /*job*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> iterations_per_s(JobId job) const override {
    return now[job.index()] * 2;
  }
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId /*job*/) const override {
    return 2;
  }
  [[nodiscard]] std::optional<double> loss(JobId /*job*/, std::int64_t /*i*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> accuracy(JobId /*job*/, std::int64_t /*i*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<TaskUse> use(JobId /*job*/, std::uint32_t /*task*/) const override {
    return std::nullopt;
  }
};

// Job 0 holds the first two of four devices since 0 s, job 1 shares them since 10 s.
class GandivaTenants : public ::testing::Test {
 protected:
  GandivaTenants() {
    for (Job& job : workload_.jobs) job.submit_us = 0;
    state_.emplace(cluster_, workload_.jobs);
    const std::vector<Placement> places = {{ServerId{0U}, DeviceId{0U}},
                                           {ServerId{0U}, DeviceId{1U}}};
    for (std::uint32_t j = 0; j < 2; ++j) {
      state_->arrive();
      EXPECT_EQ(testing::start_job(*state_, JobId{j}, places, j * 10 * kUsPerS), "");
      running_.grow(2);
      running_.insert(j);
    }
  }
  ClusterView view(double now_s) {
    ClusterView view = state_->view(static_cast<TimeUs>(now_s * 1e6));
    view.telemetry = &speeds_;
    return view;
  }
  Plan decide(double now_s) {
    const auto predictors = make_predictors("none", workload_, 1);
    const PolicyOption trial[] = {{"trial_s", "60"}};
    const auto policy = make_gandiva(trial);
    Rng rng(1);
    Plan plan;
    (*policy)->decide(view(now_s), **predictors, rng, plan);
    return plan;
  }

  Cluster cluster_ = cluster_of("1x4");
  Workload workload_ = workload_of({{0, 1, 2, 400}, {0, 1, 2, 400}});
  std::optional<ClusterState> state_;
  IdSet running_;
  Speeds speeds_;
};

TEST_F(GandivaTenants, WhatAGuestBrings) {
  speeds_.now = {0.7, 0.6};
  const ClusterView now = view(20);
  const Tenants tenants(now, running_);
  ASSERT_EQ(tenants.guests().size(), 1U);
  EXPECT_EQ(tenants.guests()[0], JobId{1U});
  EXPECT_EQ(tenants.partners(JobId{1U}), std::vector<JobId>{JobId{0U}});
  // Two GPUs at 0.6, and what the other loses on two.
  EXPECT_DOUBLE_EQ(tenants.gain(JobId{1U}).value(), 2 * 0.6 - 2 * (1 - 0.7));
  speeds_.now = {0.7, 0};
  EXPECT_FALSE(tenants.gain(JobId{1U}));
}

TEST_F(GandivaTenants, PackingThatDoesNotPayIsUndoneAfterItsTrial) {
  speeds_.now = {0.5, 0.45};
  const Plan during = decide(69);
  EXPECT_TRUE(std::ranges::none_of(
      during.actions, [](const Action& action) { return action.kind == ActionKind::kPreemptJob; }));
  EXPECT_EQ(during.wake_us, 70 * kUsPerS);
  const Plan after = decide(70);
  ASSERT_EQ(after.actions.size(), 1U);
  EXPECT_EQ(after.actions[0].kind, ActionKind::kPreemptJob);
  EXPECT_EQ(after.actions[0].job, JobId{1U});
}

TEST_F(GandivaTenants, AGuestMovesToEmptyDevicesWhenNobodyWaits) {
  speeds_.now = {0.8, 0.8};
  const Plan plan = decide(70);
  ASSERT_EQ(plan.actions.size(), 2U);
  for (std::uint32_t k = 0; k < 2; ++k) {
    EXPECT_EQ(plan.actions[k].kind, ActionKind::kMoveTask);
    EXPECT_EQ(plan.actions[k].job, JobId{1U});
    EXPECT_EQ(plan.actions[k].to.device, DeviceId{2 + k});
  }
}

TEST_F(GandivaTenants, NobodyMovesForNothing) {
  speeds_.now = {1, 0.99};
  EXPECT_TRUE(decide(70).actions.empty());
}

}  // namespace
}  // namespace berth
