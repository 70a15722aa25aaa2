// Nobody waits for ever: a wide job beside an endless stream of narrow ones, and jobs that would
// preempt each other without end.
#include <gtest/gtest.h>

#include "support/schedules.h"
#include "support/training.h"

namespace berth {
namespace {

constexpr double kHour = 3600;

// 32 GPUs; jobs of one GPU and about 640 s come so often that they alone ask for 111 % of them, for
// 15 hours. After an hour a job of 32 GPUs comes.
Workload wide_beside_stream(Rng& rng) {
  std::vector<testing::SimpleJob> jobs;
  bool wide = false;
  for (double at_s = 0; at_s < 15 * kHour; at_s += 18) {
    if (!wide && at_s >= kHour) {
      jobs.push_back({at_s, 1800, 32});
      wide = true;
    }
    jobs.push_back({at_s, static_cast<double>(rng.uniform_int(320, 960)), 1});
  }
  return testing::workload_of(jobs);
}

TimeUs wait_of_wide(const Workload& jobs, const SimulationResult& result) {
  for (std::size_t j = 0; j < jobs.jobs.size(); ++j) {
    if (jobs.jobs[j].tasks == 32) return result.states[j].first_start_us - jobs.jobs[j].submit_us;
  }
  return kNever;
}

SimulationResult run(const Cluster& cluster, const Workload& jobs, Policy& policy,
                     ProgressRule rule = ProgressRule::kWhole) {
  const auto predictors = make_predictors("oracle", jobs, 1);
  auto result = simulate(cluster, jobs, policy, **predictors, {.seed = 1, .progress_rule = rule});
  EXPECT_TRUE(result) << result.error().text();
  return *std::move(result);
}

TEST(Waiting, AWideJobGetsItsGpusBesideAStreamOfNarrowOnes) {
  Rng rng(32);
  const Workload jobs = wide_beside_stream(rng);
  const Cluster cluster = testing::cluster_of("4x8");
  for (const PolicyInfo& info : all_policies()) {
    SCOPED_TRACE(info.name);
    const PolicyOption patience{"patience_h", "1"};
    auto patient = info.make(std::span(&patience, 1));
    if (!info.bounded_wait && !patient) continue;  // it does not claim to
    if (info.bounded_wait) {
      const auto policy = info.make({});
      EXPECT_LE(wait_of_wide(jobs, run(cluster, jobs, **policy)), 4 * kUsPerHour);
    }
    if (patient) {
      EXPECT_LE(wait_of_wide(jobs, run(cluster, jobs, **patient)), 2 * kUsPerHour);
    }
  }
}

// Two and three jobs, each of which takes everything, under policies that think in seconds: every
// run of a job loses what it did unless it is let alone for 17 minutes, which nobody told the
// policy.
TEST(Waiting, NobodyPreemptsAnotherForEver) {
  const Cluster cluster = testing::servers_of({2}, 0);
  for (const std::size_t count : {2U, 3U}) {
    Workload jobs;
    TaskGraph graph;
    graph.tasks.assign(2, {.parameters = 1, .compute_us = 5 * kUsPerS, .exchange_bytes = 0});
    graph.edges.push_back({0, 1, 1});
    jobs.graphs.push_back(graph);
    for (std::size_t j = 0; j < count; ++j) {
      Job job;
      job.submit_us = static_cast<TimeUs>(j) * kUsPerS;
      job.tasks = 2;
      job.graph = TaskGraphId{0U};
      job.max_iterations = 100;
      job.deadline_us = job.submit_us + kUsPerHour;
      job.required_accuracy_ppm = 500'000;
      jobs.jobs.push_back(job);
      jobs.truths.push_back({100 * 10 * kUsPerS});
      jobs.names.push_back("job");
      jobs.training.jobs.push_back({.iterations = 100,
                                    .first_use = static_cast<std::uint32_t>(2 * j),
                                    .load_us = 20 * kUsPerS,
                                    .curve = {}});
      jobs.training.uses.resize(2 * (j + 1));
    }
    for (const PolicyInfo& info : all_policies()) {
      SCOPED_TRACE(::testing::Message() << info.name << ", " << count << " jobs");
      const auto policy = testing::quick_policy(info);
      const SimulationResult result =
          run(cluster, jobs, *policy, rule_for(info, ProgressRule::kWhole));
      for (const JobState& state : result.states) {
        EXPECT_TRUE(state.ended() || info.holds_parts);  // who holds a part may wait for ever
        EXPECT_LE(state.preemptions, 16U * 24U);
      }
    }
  }
}

}  // namespace
}  // namespace berth
