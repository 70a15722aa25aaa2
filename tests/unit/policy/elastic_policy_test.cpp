// The frame of elastic policies: schedules worked out by hand, where what a replica is worth is
// given by a table.
#include "policy/common/elastic_policy.h"

#include <gtest/gtest.h>

#include "support/elastic.h"

namespace berth {
namespace {

using testing::ElasticJobs;
using PolicyRun = testing::Run;
using testing::WorthPolicy;

constexpr ElasticSettings kTenSeconds{.interval_s = 10, .least_run_s = 0};

PolicyRun run_worth(const Cluster& cluster, const Workload& workload,
                    const ElasticSettings& settings, const WorthPolicy::Worth& worth) {
  return testing::run_elastic(cluster, workload,
                              [&] { return std::make_unique<WorthPolicy>(settings, worth); });
}

TimeUs end_of(const PolicyRun& run, std::size_t job) {
  return run.result.states[job].last_stop_us;
}

// Job 0 has all four GPUs. Job 1 comes at 5 s and waits until the next multiple, 10 s: in order of
// worth (9, 8, 7, 3 against 2, 1, 0.5, 0.4) job 0 has 2 replicas and job 1 has 2. Job 1's 40
// iterations take 20 s. At 30 s job 0 has done 40 + 40 and grows again: 20 more at 4 a second.
TEST(ElasticPolicy, ShrinksAndGrows) {
  ElasticJobs jobs;
  jobs.add(0, 4, 100);
  jobs.add(5, 4, 40);
  const double worth[2][4] = {{9, 3, 2, 1}, {8, 7, 0.5, 0.4}};
  const PolicyRun run =
      run_worth(testing::servers_of({4}, 0), jobs.workload(), kTenSeconds,
                [&](JobId job, std::size_t n) { return worth[job.value][n - 1]; });
  EXPECT_EQ(run.result.states[1].first_start_us, 10 * kUsPerS);
  EXPECT_EQ(end_of(run, 1), 30 * kUsPerS);
  EXPECT_EQ(end_of(run, 0), 35 * kUsPerS);
  EXPECT_EQ(run.result.preemptions, 0U);
}

// What is worth less than nothing is not started, though it is free: 2 replicas of 4. The first is
// always wanted.
TEST(ElasticPolicy, ReplicasThatAreNotWanted) {
  ElasticJobs jobs;
  jobs.add(0, 4, 100);
  jobs.add(0, 4, 100);
  const PolicyRun run =
      run_worth(testing::servers_of({8}, 0), jobs.workload(), kTenSeconds,
                [](JobId job, std::size_t n) { return job.value == 0 && n <= 2 ? 1.0 : -1.0; });
  EXPECT_EQ(end_of(run, 0), 50 * kUsPerS);
  EXPECT_EQ(end_of(run, 1), 100 * kUsPerS);
}

// A gang of three (30 s) on four GPUs, and one of two (10 s) that is worth more from 5 s on: at
// 10 s the first gives way as a whole. Two GPUs are too few for it until 20 s; it has 20 s left.
TEST(ElasticPolicy, AGangIsWholeOrNothing) {
  const Workload workload = testing::workload_of(
      {{.submit_s = 0, .run_s = 30, .gpus = 3}, {.submit_s = 5, .run_s = 10, .gpus = 2}});
  const PolicyRun run = run_worth(testing::cluster_of("1x4"), workload, kTenSeconds,
                                  [](JobId job, std::size_t) { return 1.0 + job.value; });
  EXPECT_EQ(run.result.states[1].first_start_us, 10 * kUsPerS);
  EXPECT_EQ(end_of(run, 1), 20 * kUsPerS);
  EXPECT_EQ(end_of(run, 0), 40 * kUsPerS);
  EXPECT_EQ(run.result.preemptions, 1U);
}

// The same with a least run of 15 s: at 10 s the first may not leave yet, and the GPU that is free
// is kept for the second, though a third (5 s, one GPU, worth less) would fit. At 20 s the second
// and the third start; the first goes on from 30 s with 10 s left.
TEST(ElasticPolicy, ALeastRunIsKeptAndRoomIsReserved) {
  const Workload workload = testing::workload_of({{.submit_s = 0, .run_s = 30, .gpus = 3},
                                                  {.submit_s = 5, .run_s = 10, .gpus = 2},
                                                  {.submit_s = 10, .run_s = 5, .gpus = 1}});
  const double worth[] = {1.0, 2.0, 0.5};
  const PolicyRun run =
      run_worth(testing::cluster_of("1x4"), workload, {.interval_s = 10, .least_run_s = 15},
                [&](JobId job, std::size_t) { return worth[job.value]; });
  EXPECT_EQ(run.result.states[1].first_start_us, 20 * kUsPerS);
  EXPECT_EQ(run.result.states[2].first_start_us, 20 * kUsPerS);
  EXPECT_EQ(end_of(run, 0), 40 * kUsPerS);
}

// What runs counts for half as much again: 1.5 beats 1.4, and 1.6 would not have been beaten.
TEST(ElasticPolicy, HoldsOn) {
  const Workload workload = testing::workload_of(
      {{.submit_s = 0, .run_s = 30, .gpus = 4}, {.submit_s = 5, .run_s = 10, .gpus = 4}});
  for (const double other : {1.4, 1.6}) {
    const PolicyRun run = run_worth(
        testing::cluster_of("1x4"), workload, {.interval_s = 10, .least_run_s = 0, .hold = 0.5},
        [&](JobId job, std::size_t) { return job.value == 0 ? 1.0 : other; });
    EXPECT_EQ(run.result.preemptions, other > 1.5 ? 1U : 0U);
  }
}

// A job of all GPUs that is worth least, beside a stream of jobs of one GPU that overloads the
// cluster: after 36 s of waiting what is free is kept for it, and at the latest the next multiple
// gives it the rest. It is not preempted for others once it runs.
TEST(ElasticPolicy, PatienceEndsStarvation) {
  std::vector<testing::SimpleJob> jobs{{.submit_s = 0, .run_s = 20, .gpus = 4}};
  for (int i = 0; i < 300; ++i) {
    jobs.push_back({.submit_s = static_cast<double>(i / 2), .run_s = 8, .gpus = 1});
  }
  std::ranges::stable_sort(jobs, {}, &testing::SimpleJob::submit_s);
  const Workload workload = testing::workload_of(jobs);
  const auto worth = [&](JobId job, std::size_t) {
    return workload.jobs[job.index()].tasks == 4 ? 0.001 : 1.0;
  };
  const Cluster cluster = testing::cluster_of("1x4");
  ElasticSettings settings{.interval_s = 10, .least_run_s = 5, .patience_h = 0.01};
  const PolicyRun patient = run_worth(cluster, workload, settings, worth);
  EXPECT_GE(patient.result.states[0].first_start_us, 36 * kUsPerS);
  EXPECT_LE(patient.result.states[0].first_start_us, 56 * kUsPerS);
  EXPECT_EQ(end_of(patient, 0) - patient.result.states[0].first_start_us, 20 * kUsPerS);
  settings.patience_h = 0;
  EXPECT_GT(end_of(run_worth(cluster, workload, settings, worth), 0), 600 * kUsPerS);
}

// Replicas that start together lie together: two jobs of two replicas each on two servers of two
// GPUs do not share a server, though their replicas take turns in the order.
TEST(ElasticPolicy, ReplicasThatStartTogetherLieTogether) {
  ElasticJobs jobs;
  jobs.add(0, 2, 100);
  jobs.add(0, 2, 100);
  const PolicyRun run = run_worth(
      testing::servers_of({2, 2}, 0), jobs.workload(), kTenSeconds,
      [](JobId job, std::size_t n) { return 10.0 - 2.0 * static_cast<double>(n) + job.value; });
  EXPECT_NE(run.log.find("0,start,0,0+1\n"), std::string::npos) << run.log;
  EXPECT_NE(run.log.find("0,start,1,2+3\n"), std::string::npos) << run.log;
}

// A job of three replicas lies on two servers, two and one. When it gives up one, it is the lonely
// one.
TEST(ElasticPolicy, TheLoneliestReplicaLeaves) {
  ElasticJobs jobs;
  jobs.add(0, 3, 300);
  jobs.add(5, 1, 10);
  const PolicyRun run =
      run_worth(testing::servers_of({2, 1}, 0), jobs.workload(), kTenSeconds,
                [](JobId job, std::size_t n) { return job.value == 0 && n == 3 ? 1.0 : 2.0; });
  EXPECT_NE(run.log.find("10000000,shrink,0,0+1+-\n"), std::string::npos) << run.log;
  EXPECT_NE(run.log.find("10000000,start,1,2\n"), std::string::npos) << run.log;
}

// Random worth, clusters, replicas, shares, parameter servers and failures: every invariant holds,
// caches may be dropped, and every job ends.
TEST(ElasticPolicy, RandomWorth) {
  for (int i = 0; i < testing::cases(150); ++i) {
    Rng rng(4000 + static_cast<std::uint64_t>(i));
    SCOPED_TRACE(i);
    const Cluster cluster = testing::random_training_cluster(rng);
    const Workload workload = testing::random_training(rng, cluster);
    const ElasticSettings settings{.interval_s = 1.3,
                                   .least_run_s = rng.uniform(0, 3),
                                   .hold = rng.uniform(),
                                   .patience_h = rng.chance(0.5) ? 0.002 : 0};
    const std::uint64_t salt = rng.next_u64();
    const PolicyRun run = run_worth(cluster, workload, settings, [salt](JobId job, std::size_t n) {
      return static_cast<double>(mix64(salt + 64 * job.value + n) >> 40) - 1e6;
    });
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
      EXPECT_TRUE(run.result.states[j].ended() ||
                  run.result.reasons[j].code == ReasonCode::kNeverFits ||
                  run.result.reasons[j].code == ReasonCode::kNeverGpuType);
    }
  }
}

}  // namespace
}  // namespace berth
