#include "policy/mlf_h_literal/mlf_h_literal.h"

#include <gtest/gtest.h>

#include "engine/metrics.h"
#include "policy/mlf_h_literal/formulas.h"
#include "support/schedules.h"
#include "support/training.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

// Two partitions of 30 and 10 parameters, the first feeds the second, two seconds each.
TaskGraph chain_of_two() {
  TaskGraph graph;
  graph.tasks = {{.parameters = 30, .compute_us = 2 * kUsPerS, .exchange_bytes = 0},
                 {.parameters = 10, .compute_us = 2 * kUsPerS, .exchange_bytes = 0}};
  graph.edges = {{0, 1, 1}};
  return graph;
}

Job job_of_two() {
  Job job;
  job.tasks = 2;
  return job;
}

// Eq. 2: 8 / 4 x 0.5 = 1 times the parts 0.75 and 0.25. Eq. 3: 0.75 + 0.5 x 0.25.
TEST(LiteralFormulas, MachineLearningFeatures) {
  const TaskGraph graph = chain_of_two();
  const LiteralFacts facts{.urgency = 8, .iteration = 4, .last_reduction = 0.5};
  std::vector<double> out;
  literal_priorities({.alpha = 1, .gamma = 0.5}, job_of_two(), &graph, facts, {0, 0}, out);
  EXPECT_EQ(out, (std::vector<double>{0.875, 0.25}));
}

// Eq. 4 in seconds. The first task has to be done 2 s before the deadline, in 20 s: 0.3 / 18, the
// second 0.3 / 20. Both 0.3 / 10 for what remains; the first has waited for 5 s: 0.35 x 5. Eq. 5:
// half of the second on top of the first.
TEST(LiteralFormulas, ComputationFeatures) {
  const TaskGraph graph = chain_of_two();
  const LiteralFacts facts{
      .urgency = 8, .until_deadline_us = 20 * kUsPerS, .remaining_us = 10 * kUsPerS};
  std::vector<double> out;
  literal_priorities({.alpha = 0, .gamma = 0.5}, job_of_two(), &graph, facts, {5 * kUsPerS, 0},
                     out);
  const double second = 0.3 / 20 + 0.03;
  EXPECT_DOUBLE_EQ(out[1], second);
  EXPECT_DOUBLE_EQ(out[0], 0.3 / 18 + 0.03 + 1.75 + 0.5 * second);
  // Eq. 6, and a parameter server with the highest of its job.
  Job with_server = job_of_two();
  with_server.tasks = 3;
  with_server.parameter_servers = 1;
  literal_priorities({.alpha = 0.25, .gamma = 0}, with_server, &graph, facts, {0, 0, 0}, out);
  EXPECT_DOUBLE_EQ(out[0], 0.25 * 8 * 0.75 + 0.75 * (0.3 / 18 + 0.03));
  EXPECT_DOUBLE_EQ(out[2], out[0]);
}

// A passed deadline counts against a task, as the formula has it; at the very instant, and with
// nothing left to run, it counts as a microsecond.
TEST(LiteralFormulas, WhatThePaperLeavesOpen) {
  std::vector<double> out;
  LiteralFacts facts{.until_deadline_us = -kUsPerS};
  const LiteralWeights deadline{.alpha = 0, .gamma = 0, .gamma_d = 0.3};
  Job job;
  literal_priorities(deadline, job, nullptr, facts, {0}, out);
  EXPECT_DOUBLE_EQ(out[0], -0.3);
  facts.until_deadline_us = 0;
  literal_priorities(deadline, job, nullptr, facts, {0}, out);
  EXPECT_DOUBLE_EQ(out[0], 0.3e6);
  facts = {.remaining_us = 0};
  literal_priorities(deadline, job, nullptr, facts, {0}, out);
  EXPECT_DOUBLE_EQ(out[0], 0.3e6);
}

// An hour of waiting outweighs everything: 0.35 x 3600 against 0.3 / 60 of a minute that is left.
TEST(LiteralFormulas, InSecondsTheWaitDecides) {
  const auto jobs = workload_of({{0, 3600, 1}, {1, 7200, 1}, {2, 60, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "mlf-h-literal"),
            (Schedule{"0-3600", "3600-10800", "10800-10860"}));
}

// The same sum as eq. 6 has, in four parts: the first task has waited for 10 s of a job of 100 s
// that is due at 50 s.
TEST(MlfHLiteral, SaysItsTerms) {
  Workload jobs = workload_of({{0, 100, 1}});
  jobs.jobs[0].urgency = 6;
  jobs.jobs[0].deadline_us = 50 * kUsPerS;
  const Cluster cluster = cluster_of("1x1");
  ClusterState state(cluster, jobs.jobs);
  state.arrive();
  const auto policy = make_mlf_h_literal({});
  const auto predictors = make_predictors("oracle", jobs, 1);
  std::vector<PriorityTerm> terms;
  (*policy)->priority_terms(state.view(10 * kUsPerS), **predictors, JobId{0U}, terms);
  ASSERT_EQ(terms.size(), 4U);
  EXPECT_DOUBLE_EQ(terms[0].value, 0.3 * 6);
  EXPECT_DOUBLE_EQ(terms[1].value, 0.7 * 0.3 / 40);
  EXPECT_DOUBLE_EQ(terms[2].value, 0.7 * 0.3 / 100);
  EXPECT_DOUBLE_EQ(terms[3].value, 0.7 * 0.35 * 10);
}

// Jobs of two tasks in a chain of a second each, ten iterations; all on GPUs of one server.
Workload chains(std::size_t count) {
  Workload jobs;
  TaskGraph graph = chain_of_two();
  for (TaskSpec& task : graph.tasks) task.compute_us = kUsPerS / 2;
  jobs.graphs.push_back(graph);
  for (std::size_t j = 0; j < count; ++j) {
    Job job = job_of_two();
    job.submit_us = j == 0 ? 0 : kUsPerS;
    job.graph = TaskGraphId{0U};
    jobs.jobs.push_back(job);
    jobs.truths.push_back({10 * kUsPerS});
    jobs.names.push_back("job");
    jobs.training.jobs.push_back(
        {.iterations = 10, .first_use = static_cast<std::uint32_t>(2 * j), .curve = {}});
    jobs.training.uses.resize(2 * (j + 1));
  }
  return jobs;
}

Result<SimulationResult> run(const Cluster& cluster, const Workload& jobs) {
  const auto predictors = make_predictors("oracle", jobs, 1);
  const auto policy = make_mlf_h_literal({});
  return simulate(cluster, jobs, **policy, **predictors,
                  {.check = true, .progress_rule = ProgressRule::kHold});
}

// Two GPUs, which job 0 has until 10 s. Jobs 1 and 2 came at the same time; the first tasks of both
// go before the second tasks, for which they work. Each gets a GPU, and neither ever the other.
TEST(MlfHLiteral, PartsOfReplicasDeadlock) {
  const Cluster cluster = testing::servers_of({2}, 0);
  const Workload jobs = chains(3);
  auto result = run(cluster, jobs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->states[0].last_stop_us, 10 * kUsPerS);
  ASSERT_TRUE(result->deadlock);
  EXPECT_EQ(result->deadlock->at_us, 10 * kUsPerS);
  EXPECT_EQ(result->deadlock->holding_jobs, 2U);
  EXPECT_EQ(result->deadlock->held_milli, 2000);
  EXPECT_EQ(result->deadlock->waiting_jobs, 0U);
  const Metrics metrics = summarise(cluster, jobs, *result);
  EXPECT_EQ(metrics.finished, 1U);
  EXPECT_EQ(metrics.unfinished, 2U);
  EXPECT_EQ(metrics.deadlock_at_s, 10.0);
  EXPECT_EQ(metrics.deadlock_held_gpus, 2.0);
}

// With a GPU more, job 1 has both when job 0 ends, and then job 2.
TEST(MlfHLiteral, WithRoomPartsBecomeWhole) {
  const Workload jobs = chains(3);
  const auto result = run(testing::servers_of({3}, 0), jobs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_FALSE(result->deadlock);
  EXPECT_EQ(result->states[1].first_start_us, kUsPerS);
  EXPECT_EQ(result->states[1].last_stop_us, 20 * kUsPerS);
  EXPECT_EQ(result->states[2].last_stop_us, 30 * kUsPerS);
}

}  // namespace
}  // namespace berth
