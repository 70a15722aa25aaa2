#include "policy/mlf_h/mlf_h.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "policy/common/graph_priority.h"
#include "policy/mlf_h/priority.h"
#include "policy/mlf_h/running_median.h"
#include "support/schedules.h"
#include "support/training.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

// 0 feeds 1 and 2, which feed 3.
TaskGraph diamond() {
  TaskGraph graph;
  for (const std::int64_t parameters : {10, 20, 30, 40}) {
    graph.tasks.push_back({.parameters = parameters, .compute_us = 1, .exchange_bytes = 0});
  }
  graph.edges = {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}};
  return graph;
}

// As published: 3 has its own 4; 1 has 2 + 0.5 x 4 = 4; 2 has 3 + 0.5 x 4 = 5; 0 has 1 + 0.5 x 9.
TEST(GraphPriority, SumsOverChildren) {
  std::vector<double> values{1, 2, 3, 4};
  add_children(diamond(), ChildRule::kSum, 0.5, values);
  EXPECT_EQ(values, (std::vector<double>{5.5, 4, 5, 4}));
}

// 1 has (2 + 0.5 x 4) / 1.5, 2 has (3 + 0.5 x 4) / 1.5, 0 has (1 + 0.5 x 3) / 1.5.
TEST(GraphPriority, ConvexMeansOverChildren) {
  std::vector<double> values{1, 2, 3, 4};
  add_children(diamond(), ChildRule::kConvexMean, 0.5, values);
  const double expected[] = {2.5 / 1.5, 4 / 1.5, 5 / 1.5, 4};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_DOUBLE_EQ(values[k], expected[k]);
}

// Parts 0.1, 0.2, 0.3, 0.4 of the model: the last task is the best.
TEST(MlfPriority, TheBestTaskCounts) {
  EXPECT_DOUBLE_EQ(best_size(diamond(), 0.5), 0.4);
}

// It fell by 9 in 100 iterations, 0.09 each; in the last ten by 0.45, half as fast.
TEST(MlfPriority, HowFastTheLossStillFalls) {
  EXPECT_EQ(last_tenth(100), 10);
  EXPECT_EQ(last_tenth(7), 1);
  EXPECT_DOUBLE_EQ(loss_factor(10, 1.45, 1, 10, 100), 0.5);
  EXPECT_DOUBLE_EQ(loss_factor(10, 3, 1, 10, 100), 1.0);
  EXPECT_DOUBLE_EQ(loss_factor(10, 1, 1, 10, 100), 0.0);
  EXPECT_DOUBLE_EQ(loss_factor(1, 1.5, 2, 10, 100), 0.0);
}

TEST(MlfPriority, LaxityWhileTheDeadlineCanBeMet) {
  EXPECT_DOUBLE_EQ(feasible_laxity(30, 120), 0.25);
  EXPECT_DOUBLE_EQ(feasible_laxity(120, 120), 1.0);
  EXPECT_DOUBLE_EQ(feasible_laxity(121, 120), 0.0);
  EXPECT_DOUBLE_EQ(feasible_laxity(0, 0), 0.0);
  EXPECT_DOUBLE_EQ(feasible_laxity(10, -5), 0.0);
  EXPECT_DOUBLE_EQ(feasible_laxity(10, std::nullopt), 0.0);
}

TEST(MlfPriority, TheTermsAddUp) {
  const MlfFacts facts{.urgency = 0.8,
                       .loss = 0.5,
                       .size = 0.25,
                       .remaining_us = 300,
                       .waited_us = 50,
                       .laxity = 0.6,
                       .tau_us = 100};
  const MlfTerms terms = mlf_terms({}, facts);
  EXPECT_DOUBLE_EQ(terms.ml, 0.3 * 0.8 * 0.5 * 0.25);
  EXPECT_DOUBLE_EQ(terms.deadline, 0.7 * 0.3 * 0.6);
  EXPECT_DOUBLE_EQ(terms.remaining, 0.7 * 0.3 * 100 / 400);
  EXPECT_DOUBLE_EQ(terms.waiting, 0.7 * 0.35 * 50 / 150);
  EXPECT_DOUBLE_EQ(terms.sum(), 0.03 + 0.126 + 0.0525 + 0.7 * 0.35 / 3);
  // Factors count as much as they are given weight.
  const MlfTerms other = mlf_terms({.alpha = 1, .urgency = 0.5, .loss = 0, .size = 1}, facts);
  EXPECT_DOUBLE_EQ(other.sum(), 0.9 * 0.25);
  EXPECT_DOUBLE_EQ(most_priority({}), 0.3 + 0.7 * 0.95);
}

TEST(RunningMedian, TheLowerOfTheTwoInTheMiddle) {
  RunningMedian median;
  EXPECT_TRUE(median.empty());
  const std::int64_t values[] = {5, 1, 9, 9, 2, 2};
  const std::int64_t medians[] = {5, 1, 5, 5, 5, 2};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    median.add(values[i]);
    EXPECT_EQ(median.value(), medians[i]);
  }
}

std::vector<PolicyOption> with(std::vector<PolicyOption> more) {
  std::vector<PolicyOption> options{{"round_s", "1"}, {"least_run_s", "0"}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const PolicyOption kNoLearning{"alpha", "0"};
const PolicyOption kNoDeadline{"gamma_d", "0"};
const PolicyOption kNoRemaining{"gamma_r", "0"};
const PolicyOption kNoWaiting{"gamma_w", "0"};

// One GPU. By what remains alone: A has 9 s left when B (3 s) comes; C (4 s) is after B, before A.
TEST(MlfH, LeastRemainingFirst) {
  const auto jobs = workload_of({{0, 10, 1}, {1, 3, 1}, {2, 4, 1}});
  EXPECT_EQ(
      schedule(cluster_of("1x1"), jobs, "mlf-h", with({kNoLearning, kNoDeadline, kNoWaiting})),
      (Schedule{"0-1 8-17", "1-4", "4-8"}));
}

// By the wait alone: first come, first served, as nobody has waited less before.
TEST(MlfH, LongestWaitFirst) {
  const auto jobs = workload_of({{0, 5, 1}, {1, 3, 1}, {2, 1, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "mlf-h",
                     with({kNoLearning, kNoDeadline, kNoRemaining, {"preempts", "0"}})),
            (Schedule{"0-5", "5-8", "8-9"}));
}

// By the deadline alone, at 4 s when A ends: B needs 4 of the 16 s left to it, C 4 of 8; D needs 4
// and has 3 left, which is lost. B and C then run before D, C first.
TEST(MlfH, DeadlinesThatCanBeMet) {
  auto jobs = workload_of({{0, 4, 1}, {1, 4, 1}, {1, 4, 1}, {1, 4, 1}});
  for (const auto& [job, deadline_s] : {std::pair{1, 20}, {2, 12}, {3, 7}}) {
    jobs.jobs[job].deadline_us = deadline_s * kUsPerS;
  }
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "mlf-h",
                     with({kNoLearning, kNoRemaining, kNoWaiting, {"preempts", "0"}})),
            (Schedule{"0-4", "8-12", "4-8", "12-16"}));
}

// By urgency alone, and without it first come, first served.
TEST(MlfH, UrgentJobsFirst) {
  auto jobs = workload_of({{0, 4, 1}, {1, 4, 1}, {2, 4, 1}});
  jobs.jobs[1].urgency = 3;
  jobs.jobs[2].urgency = 9;
  const auto run = [&](const char* weight) {
    return schedule(cluster_of("1x1"), jobs, "mlf-h",
                    with({{"alpha", "1"}, {"preempts", "0"}, {"urgency_weight", weight}}));
  };
  EXPECT_EQ(run("1"), (Schedule{"0-4", "8-12", "4-8"}));
  EXPECT_EQ(run("0"), (Schedule{"0-4", "4-8", "8-12"}));
}

// A started when it needed 10 of 20 s, and keeps that half. B needs 8 of 16 s at 4 s, and 8 of 15
// at 5 s: more. A then needs 5 of 10 s at 10 s, and at 11 s 5 of 9, more than 8 of 15. (By what
// they need at the moment they would take turns every second from 3 s on.)
TEST(MlfH, WhoRunsKeepsItsLaxity) {
  auto jobs = workload_of({{0, 10, 1}, {2, 8, 1}});
  jobs.jobs[0].deadline_us = 20 * kUsPerS;
  jobs.jobs[1].deadline_us = 20 * kUsPerS;
  EXPECT_EQ(
      schedule(cluster_of("1x1"), jobs, "mlf-h", with({kNoLearning, kNoRemaining, kNoWaiting})),
      (Schedule{"0-5 11-16", "5-11 16-18"}));
}

// A hundred iterations of a second; from 10 s on the device takes two for each. At 11 s the job is
// seen to go at half of its speed, and has 89 s to go: it goes on beside, with what it did in 10 s,
// and ends at 101 s. Where a move costs more than the 89 s that it saves, it stays: 10 + 2 x 90 s.
TEST(MlfH, MovesStragglersIfAsked) {
  Workload jobs = workload_of({{0, 100, 1}});
  jobs.graphs.push_back({.tasks = {{.parameters = 1, .compute_us = kUsPerS}}, .edges = {}});
  jobs.jobs[0].graph = TaskGraphId{0U};
  jobs.training.jobs.push_back({.iterations = 100, .checkpoint_iterations = 1, .curve = {}});
  jobs.training.uses.resize(1);
  const auto run = [&](const char* speed, const char* cost_s) {
    const auto done = testing::run_policy(
        testing::servers_of({1, 1}, 0), jobs, "mlf-h",
        {.faults = {{.at_us = 10 * kUsPerS,
                     .kind = FaultKind::kDeviceSpeed,
                     .id = 0,
                     .speed_ppm = 500'000}},
         .options =
             with({{"straggler_speed", speed}, {"cooldown_s", "0"}, {"move_cost_s", cost_s}})});
    return done.result.states[0];
  };
  EXPECT_EQ(run("0.7", "80").last_move_us, 11 * kUsPerS);
  EXPECT_EQ(run("0.7", "80").last_stop_us, 101 * kUsPerS);
  EXPECT_EQ(run("0.7", "90").last_stop_us, 190 * kUsPerS);
  EXPECT_EQ(run("0", "80").last_stop_us, 190 * kUsPerS);
}

// As above, with copies: jobs of so many tasks of a second in a row, and what their devices do.
struct CopyTrial {
  Workload jobs;
  std::vector<FaultEvent> faults;

  void add(TimeUs at_us, std::int64_t iterations, std::uint32_t tasks) {
    TaskGraph graph;
    for (std::uint32_t k = 0; k < tasks; ++k) {
      graph.tasks.push_back({.parameters = 1, .compute_us = kUsPerS / tasks});
      if (k > 0) graph.edges.push_back({k - 1, k, 1});
    }
    Workload more = workload_of(
        {{.submit_s = seconds(at_us), .run_s = static_cast<double>(iterations), .gpus = tasks}});
    more.jobs[0].graph = TaskGraphId{jobs.graphs.size()};
    jobs.graphs.push_back(graph);
    jobs.jobs.push_back(more.jobs[0]);
    jobs.truths.push_back(more.truths[0]);
    jobs.names.push_back("job");
    jobs.training.jobs.push_back(
        {.iterations = iterations,
         .first_use = static_cast<std::uint32_t>(jobs.training.uses.size()),
         .curve = {}});
    jobs.training.uses.resize(jobs.training.uses.size() + tasks);
  }
  void set_speed(TimeUs at_us, std::uint32_t device, std::int32_t ppm) {
    faults.push_back({at_us, FaultKind::kDeviceSpeed, device, ppm});
  }
  testing::Run run(const std::vector<std::uint32_t>& servers, std::vector<PolicyOption> options) {
    options.insert(options.end(), {{"straggler_copies", "1"}, {"migrates", "0"}});
    return testing::run_policy(testing::servers_of(servers, 0), jobs, "mlf-h",
                               {.faults = faults, .options = with(std::move(options))});
  }
};

// Slow from 10 s on, a copy after three rounds. By then 11.5 iterations are done, and 87 s are
// believed to be left, of which it saves half: more than a cost of 43 s. At 30 s the device is well
// again, and the copy goes.
TEST(MlfH, CopiesStragglersIfAskedAndWorthIt) {
  CopyTrial trial;
  trial.add(0, 100, 1);
  trial.set_speed(10 * kUsPerS, 0, 500'000);
  trial.set_speed(30 * kUsPerS, 0, 1'000'000);
  const auto copied = trial.run({1, 1}, {{"move_cost_s", "43"}});
  EXPECT_EQ(copied.result.copies, 1U);
  EXPECT_DOUBLE_EQ(copied.result.copies_held_gpu_us, 17e6);
  EXPECT_EQ(copied.result.states[0].last_stop_us, 101'500'000);
  EXPECT_EQ(trial.run({1, 1}, {{"move_cost_s", "44"}}).result.copies, 0U);
  // Slower by less than is asked for.
  EXPECT_EQ(trial.run({1, 1}, {{"move_cost_s", "1"}, {"straggler_factor", "2.1"}}).result.copies,
            0U);
  // No other server.
  EXPECT_EQ(trial.run({2}, {{"move_cost_s", "1"}}).result.copies, 0U);
}

// A job of 5 s comes at 20 s and gets the copy's room at once. From 25 s on there is a copy again:
// 18.5 iterations by 20 s, 2.5 by 25 s, 79 to go. At 50 s the device fails, and the copy goes on.
TEST(MlfH, CopiesGiveWayToWhoWaitsAndTakeOver) {
  CopyTrial trial;
  trial.add(0, 100, 1);
  trial.add(20 * kUsPerS, 5, 1);
  trial.set_speed(10 * kUsPerS, 0, 500'000);
  trial.faults.push_back({.at_us = 50 * kUsPerS, .kind = FaultKind::kDeviceDown, .id = 0});
  const auto run = trial.run({1, 1}, {{"move_cost_s", "1"}});
  EXPECT_EQ(run.log, R"(time_us,event,id,devices
0,arrive,0,
0,start,0,0
10000000,device-speed,0,
13000000,copy,0,0+0=1
20000000,arrive,1,
20000000,drop-copy,0,0
20000000,start,1,1
25000000,finish,1,
25000000,copy,0,0+0=1
50000000,device-down,0,
50000000,take-over,0,1
104000000,finish,0,
)");
  EXPECT_EQ(run.result.copies, 2U);
  EXPECT_EQ(run.result.evictions, 0U);
}

// Where all tasks are as slow none is a straggler; where one is, it alone is copied.
TEST(MlfH, StragglersAreSlowBesideTheirGang) {
  CopyTrial trial;
  trial.add(0, 100, 3);
  trial.set_speed(10 * kUsPerS, 1, 500'000);
  EXPECT_EQ(trial.run({3, 3}, {{"move_cost_s", "1"}}).result.copies, 1U);
  trial.set_speed(10 * kUsPerS, 0, 500'000);
  trial.set_speed(10 * kUsPerS, 2, 500'000);
  EXPECT_EQ(trial.run({3, 3}, {{"move_cost_s", "1"}}).result.copies, 0U);
}

// Nothing is copied to a device that is as slow.
TEST(MlfH, CopiesGoToDevicesThatAreFaster) {
  CopyTrial trial;
  trial.add(0, 100, 1);
  for (const std::uint32_t device : {0U, 1U}) trial.set_speed(10 * kUsPerS, device, 500'000);
  EXPECT_EQ(trial.run({1, 1}, {{"move_cost_s", "1"}}).result.copies, 0U);
  const auto run = trial.run({1, 1, 1}, {{"move_cost_s", "1"}});
  EXPECT_EQ(run.result.copies, 1U);
  EXPECT_EQ(run.result.states[0].last_stop_us, 101'500'000);
}

// A job of 300 s, which is the median then, has waited for 60 s in the round that began at 60 s. It
// says nothing of its urgency: the middle. --why shows the terms.
TEST(MlfH, SaysItsTerms) {
  const Workload jobs = workload_of({{0, 300, 1}});
  const Cluster cluster = cluster_of("1x1");
  ClusterState state(cluster, jobs.jobs);
  state.arrive();
  const auto policy = make_mlf_h({});
  const auto predictors = make_predictors("oracle", jobs, 1);
  std::vector<PriorityTerm> terms;
  (*policy)->priority_terms(state.view(119 * kUsPerS), **predictors, JobId{0U}, terms);
  ASSERT_EQ(terms.size(), 4U);
  EXPECT_DOUBLE_EQ(terms[0].value, 0.3 * 0.5);
  EXPECT_DOUBLE_EQ(terms[1].value, 0.0);
  EXPECT_DOUBLE_EQ(terms[2].value, 0.7 * 0.3 / 2);
  EXPECT_DOUBLE_EQ(terms[3].value, 0.7 * 0.35 * 60 / 360);
}

TEST(MlfH, NeedsNoPredictions) {
  const auto jobs = workload_of({{0, 10, 1}, {1, 3, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "mlf-h", with({{"preempts", "0"}}), "none"),
            (Schedule{"0-10", "10-13"}));
}

}  // namespace
}  // namespace berth
