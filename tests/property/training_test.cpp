// Training jobs on random clusters, with faults, under a policy without sense and under real ones:
// every invariant after every round, the slow twin's event log, and work that is conserved.
#include "support/training.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/simulator.h"
#include "engine/twin.h"
#include "policy/mlf_h/mlf_h.h"
#include "report/reason_text.h"

namespace berth {
namespace {

std::uint64_t seed_of(int i) {
  return 70'000 + static_cast<std::uint64_t>(i);
}

struct Case {
  Cluster cluster;
  Workload workload;
  std::vector<FaultEvent> faults;
};

Case random_case(std::uint64_t seed) {
  Rng rng(seed);
  Case out;
  out.cluster = testing::random_training_cluster(rng);
  out.workload = testing::random_training(rng, out.cluster);
  if (rng.chance(0.5)) out.faults = testing::random_faults(rng, out.cluster);
  return out;
}

// Runs both engines and compares; the fast one's result.
SimulationResult run_both(const Case& trial, Policy& policy, Policy& again, ProgressRule rule,
                          std::uint64_t seed) {
  const auto predictors = make_predictors("oracle", trial.workload, seed);
  TextEventLog fast;
  TextEventLog slow;
  SimulationOptions options{
      .seed = seed, .check = true, .log = &fast, .progress_rule = rule, .faults = trial.faults};
  auto result = simulate(trial.cluster, trial.workload, policy, **predictors, options);
  EXPECT_TRUE(result) << result.error().text();
  options.log = &slow;
  const Status status =
      simulate_slowly(trial.cluster, trial.workload, again, **predictors, options);
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_EQ(testing::first_difference(fast.text(), slow.text()), "");
  return result ? *std::move(result) : SimulationResult{};
}

class SenselessPolicy : public ::testing::TestWithParam<ProgressRule> {};

TEST_P(SenselessPolicy, DoesTheSameInBothEngines) {
  std::uint64_t copies = 0;
  for (int i = 0; i < testing::cases(700); ++i) {
    const std::uint64_t seed = seed_of(i) + 1000 * static_cast<std::uint64_t>(GetParam());
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Case trial = random_case(seed);
    const bool whole = GetParam() == ProgressRule::kWhole;
    const auto policy = testing::senseless_policy(whole);
    const auto again = testing::senseless_policy(whole);
    const SimulationResult result = run_both(trial, *policy, *again, GetParam(), seed);
    if (HasFailure()) return;
    copies += result.copies;
    for (std::size_t j = 0; j < trial.workload.jobs.size(); ++j) {
      const JobOutcome& outcome = result.outcomes[j];
      EXPECT_LE(outcome.iterations, trial.workload.training.jobs[j].iterations);
      if (result.states[j].status == JobStatus::kFinished) {
        EXPECT_EQ(outcome.iterations, trial.workload.training.jobs[j].iterations);
      }
    }
  }
  EXPECT_GT(copies, 0U);
}

INSTANTIATE_TEST_SUITE_P(Rules, SenselessPolicy,
                         ::testing::Values(ProgressRule::kWhole, ProgressRule::kHold,
                                           ProgressRule::kPartial));

TEST(TrainingProperty, RealPoliciesDoTheSameInBothEngines) {
  for (int i = 0; i < testing::cases(300); ++i) {
    const std::uint64_t seed = seed_of(i) + 5000;
    const Case trial = random_case(seed);
    for (const PolicyInfo& info : all_policies()) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << info.name);
      const auto policy = testing::quick_policy(info);
      const auto again = testing::quick_policy(info);
      const SimulationResult result =
          run_both(trial, *policy, *again, rule_for(info, ProgressRule::kWhole), seed);
      if (HasFailure()) return;
      // Parts of replicas may wait for each other for ever.
      if (!trial.faults.empty() || info.holds_parts) continue;
      for (std::size_t j = 0; j < trial.workload.jobs.size(); ++j) {
        const JobState& state = result.states[j];
        EXPECT_TRUE(state.ended() || reason_is_never(result.reasons[j].code));
      }
    }
  }
}

// Devices that are slow for most of the time, and jobs whose slow tasks are copied at once.
TEST(TrainingProperty, CopiesOfStragglersAreTheSameInBothEngines) {
  std::uint64_t copies = 0;
  for (int i = 0; i < testing::cases(400); ++i) {
    const std::uint64_t seed = seed_of(i) + 7000;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed);
    Case trial;
    trial.cluster = testing::random_training_cluster(rng);
    trial.workload = testing::random_training(rng, trial.cluster);
    FaultProcess process{.slow_between_us = 5 * kUsPerS, .slow_for_us = 20 * kUsPerS};
    if (rng.chance(0.5)) process.device_between_us = 20 * kUsPerS;
    process.device_repair_us = 4 * kUsPerS;
    trial.faults = draw_faults(process, trial.cluster, 60 * kUsPerS, rng.fork("faults"));
    const std::vector<PolicyOption> options{
        {"round_s", "0.5"},        {"least_run_s", "0"},
        {"cooldown_s", "1"},       {"move_cost_s", "0.5"},
        {"straggler_rounds", "1"}, {"straggler_copies", rng.chance(0.5) ? "1" : "2"}};
    const auto policy = make_mlf_h(options);
    const auto again = make_mlf_h(options);
    copies += run_both(trial, **policy, **again, ProgressRule::kWhole, seed).copies;
    if (HasFailure()) return;
  }
  EXPECT_GT(copies, 0U);
}

// Every job shares devices, many have replicas, and failures take some of these: whoever packs jobs
// beside others must not go where nothing is left.
TEST(TrainingProperty, JobsThatShareLoseReplicas) {
  for (int i = 0; i < testing::cases(300); ++i) {
    const std::uint64_t seed = seed_of(i) + 9000;
    Rng rng(seed);
    Case trial;
    trial.cluster = testing::random_training_cluster(rng);
    trial.workload = testing::random_training(rng, trial.cluster);
    for (Job& job : trial.workload.jobs) {
      if (job.gpu_milli_per_task == 0) continue;
      job.gpu_milli_per_task = static_cast<std::uint32_t>(50 + rng.below(400));
      job.gpu_memory_mib_per_task = 0;
    }
    trial.faults = testing::random_faults(rng, trial.cluster);
    const auto predictors = make_predictors("noisy:0.5", trial.workload, seed);
    for (const PolicyInfo& info : all_policies()) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << info.name);
      const auto policy = testing::quick_policy(info);
      const auto result = simulate(trial.cluster, trial.workload, *policy, **predictors,
                                   {.seed = seed,
                                    .check = true,
                                    .progress_rule = rule_for(info, ProgressRule::kWhole),
                                    .faults = trial.faults});
      EXPECT_TRUE(result) << result.error().text();
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace berth
