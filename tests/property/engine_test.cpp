// Random small cases: invariants, the slow twin, and caches that may be dropped at any moment.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/twin.h"
#include "support/obvious_policies.h"
#include "support/training.h"
#include "support/workloads.h"

namespace berth {
namespace {

using testing::RandomJobs;
using PolicyRun = testing::Run;
using testing::first_difference;

constexpr const char* kPolicies[] = {"fifo", "fifo-backfill", "sjf", "srtf"};

// The seed of case i: printed when it fails, and enough to repeat it.
std::uint64_t seed_of(int i) {
  return 9000 + static_cast<std::uint64_t>(i);
}

std::string twin_log(const Cluster& cluster, const Workload& workload, Policy& policy,
                     std::string_view predict) {
  const auto predictors = make_predictors(predict, workload, 7);
  TextEventLog log;
  const Status status =
      simulate_slowly(cluster, workload, policy, **predictors, {.seed = 7, .log = &log});
  EXPECT_TRUE(status) << status.error().text();
  return log.text();
}

TEST(EngineProperty, FastEngineAndPoliciesEqualTheirSlowTwins) {
  for (int i = 0; i < testing::cases(500); ++i) {
    Rng rng(seed_of(i));
    const Cluster cluster = testing::random_cluster(rng, false);
    const Workload workload = testing::random_workload(rng, cluster, {});
    for (const char* const name : kPolicies) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed_of(i) << ", policy " << name);
      const char* const predict = i % 2 == 0 ? "oracle" : "noisy:1";
      const PolicyRun fast = testing::run_policy(cluster, workload, name, {.predict = predict});
      const auto obvious = testing::obvious_policy(name);
      EXPECT_EQ(first_difference(fast.log, twin_log(cluster, workload, *obvious, predict)), "");
    }
  }
}

TEST(EngineProperty, RankedPoliciesEqualTheirSlowTwins) {
  const std::vector<PolicyOption> times{{"round_s", "2"}, {"least_run_s", "3"}};
  for (int i = 0; i < testing::cases(400); ++i) {
    Rng rng(seed_of(i) + 20'000);
    const Cluster cluster = testing::random_cluster(rng, false);
    const Workload workload = testing::random_workload(rng, cluster, {});
    for (const char* const name : {"smith", "fair", "tiresias"}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed_of(i) + 20'000 << ", policy " << name);
      std::vector<PolicyOption> options = times;
      if (std::string_view(name) == "tiresias") {
        options.push_back({"threshold_gpu_s", "20"});
        options.push_back({"threshold2_gpu_s", "100"});
      }
      const PolicyRun fast = testing::run_policy(cluster, workload, name, {.options = options});
      const auto obvious = testing::obvious_ranked_policy(name);
      EXPECT_EQ(first_difference(fast.log, twin_log(cluster, workload, *obvious, "oracle")), "");
      if (HasFailure()) return;
    }
  }
}

TEST(EngineProperty, CachesMayBeDroppedAtAnyMoment) {
  for (int i = 0; i < testing::cases(200); ++i) {
    Rng rng(seed_of(i));
    const Cluster cluster = testing::random_cluster(rng, true);
    const Workload workload =
        testing::random_workload(rng, cluster, {.types = true, .shares = i % 2 == 0});
    for (const PolicyInfo& policy : all_policies()) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed_of(i) << ", policy " << policy.name);
      const auto options = testing::quick_options(policy);
      const char* const predict = i % 3 == 2 ? "history" : "oracle";
      const PolicyRun kept = testing::run_policy(cluster, workload, policy.name,
                                                 {.predict = predict, .options = options});
      const PolicyRun dropped =
          testing::run_policy(cluster, workload, policy.name,
                              {.predict = predict, .drop_caches_one_in = 3, .options = options});
      EXPECT_EQ(first_difference(kept.log, dropped.log), "");
      EXPECT_EQ(kept.result.reasons, dropped.result.reasons);
      const auto fresh = testing::quick_policy(policy);
      EXPECT_EQ(first_difference(kept.log, twin_log(cluster, workload, *fresh, predict)), "");
    }
  }
}

// Where a failure is announced, though it comes after the end of all jobs, as-traced jobs run as
// any jobs do; else only their state counts. A policy without sense preempts, moves and stops them.
TEST(EngineProperty, AsTracedJobsRunTheSameWhereAFailureMayCome) {
  const std::vector<FaultEvent> far{
      {.at_us = 1000 * kUsPerDay, .kind = FaultKind::kServerDown, .id = 0}};
  for (int i = 0; i < testing::cases(300); ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed_of(i));
    Rng rng(seed_of(i));
    const Cluster cluster = testing::random_cluster(rng, true);
    const Workload workload =
        testing::random_workload(rng, cluster, {.max_jobs = 20, .types = true, .shares = true});
    const auto predictors = make_predictors("oracle", workload, 7);
    std::string logs[2];
    for (const bool with_failure : {false, true}) {
      TextEventLog log;
      SimulationOptions options{.seed = seed_of(i), .check = true, .log = &log};
      if (with_failure) options.faults = far;
      const auto policy = testing::senseless_policy(true);
      const auto result = simulate(cluster, workload, *policy, **predictors, options);
      ASSERT_TRUE(result) << result.error().text();
      logs[with_failure ? 1 : 0] = log.text();
    }
    EXPECT_EQ(first_difference(logs[0], logs[1]), "");
    const auto policy = testing::senseless_policy(true);
    TextEventLog slow;
    const Status status = simulate_slowly(cluster, workload, *policy, **predictors,
                                          {.seed = seed_of(i), .log = &slow});
    EXPECT_TRUE(status) << status.error().text();
    EXPECT_EQ(first_difference(logs[0], slow.text()), "");
  }
}

TEST(EngineProperty, EveryJobEndsOrNeverFits) {
  for (int i = 0; i < testing::cases(200); ++i) {
    Rng rng(seed_of(i) + 5000);
    const Cluster cluster = testing::random_cluster(rng, true);
    const Workload workload =
        testing::random_workload(rng, cluster, {.types = true, .shares = true});
    for (const PolicyInfo& policy : all_policies()) {
      if (policy.holds_parts) continue;  // they may wait for each other for ever
      SCOPED_TRACE(::testing::Message()
                   << "seed " << seed_of(i) + 5000 << ", policy " << policy.name);
      const PolicyRun run =
          testing::run_policy(cluster, workload, policy.name,
                              {.predict = "noisy:1", .options = testing::quick_options(policy)});
      std::uint64_t never = 0;
      for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
        const JobState& state = run.result.states[j];
        if (state.status == JobStatus::kPending) {
          const ReasonCode why = run.result.reasons[j].code;
          EXPECT_TRUE(why == ReasonCode::kNeverFits || why == ReasonCode::kNeverGpuType);
          ++never;
          continue;
        }
        EXPECT_EQ(state.status, JobStatus::kFinished);
        // Work is conserved: it ran for exactly its alone time.
        EXPECT_EQ(state.attained_us, workload.truths[j].work_us);
        EXPECT_GE(state.first_start_us, workload.jobs[j].submit_us);
      }
      EXPECT_EQ(never, run.result.never_fit);
    }
  }
}

}  // namespace
}  // namespace berth
