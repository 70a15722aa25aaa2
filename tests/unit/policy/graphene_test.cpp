#include "policy/graphene/graphene.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/cluster_state.h"
#include "support/schedules.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

TEST(Graphene, FootprintIsTheMeanPartOfWhatTheClusterStates) {
  Cluster cluster = cluster_of("2x4");
  Job job;
  job.tasks = 2;
  job.cpu_milli_per_task = 4'000;
  job.memory_mib_per_task = 1'000;
  EXPECT_DOUBLE_EQ(footprint(cluster, job), 2.0 / 8);
  for (Server& server : cluster.servers) {
    server.capacity[Resource::kCpuMilli] = 8'000;
    server.capacity[Resource::kMemoryMib] = 10'000;
  }
  EXPECT_DOUBLE_EQ(footprint(cluster, job), (0.25 + 0.5 + 0.1) / 3);
  job.gpu_milli_per_task = 500;
  EXPECT_DOUBLE_EQ(footprint(cluster, job), (0.125 + 0.5 + 0.1) / 3);
}

// Two GPUs. Remaining time x size: A has 9 x 2 at 1 s, when B (6 x 1) and C (8 x 1) come, and may
// not be stopped before 2 s. Without a packing score this is the order of the least remaining work.
TEST(Graphene, LeastRemainingWorkFirst) {
  const auto jobs = workload_of({{0, 10, 2}, {1, 6, 1}, {1, 8, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "graphene",
                     {{"round_s", "1"}, {"least_run_s", "2"}, {"packing_weight", "0"}}),
            (Schedule{"0-2 10-18", "2-8", "2-10"}));
}

// Four GPUs that A holds until 10 s. B then has 4 x 4 GPU-seconds, C 5 x 1: C goes first. A heavy
// packing score takes the size of a job off the order, and B goes first.
TEST(Graphene, ThePackingScoreIsForWhoIsHardToPack) {
  const auto jobs = workload_of({{0, 10, 4}, {1, 4, 4}, {1, 5, 1}});
  const auto runs = [&](const char* weight) {
    return schedule(cluster_of("1x4"), jobs, "graphene",
                    {{"preempts", "0"}, {"packing_weight", weight}});
  };
  EXPECT_EQ(runs("0"), (Schedule{"0-10", "15-19", "10-15"}));
  EXPECT_EQ(runs("1000"), (Schedule{"0-10", "10-14", "14-19"}));
}

// How many servers each job is placed on, of jobs of 1, 1, 3 and 3 GPUs that start at once, in this
// order, on two servers of four.
std::vector<std::size_t> servers_of_each(std::string_view policy_name) {
  const Cluster cluster = cluster_of("2x4");
  const Workload workload = workload_of({{0, 1, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, 3}});
  ClusterState state(cluster, workload.jobs);
  for (int j = 0; j < 4; ++j) state.arrive();
  const auto predictors = make_predictors("oracle", workload, 1);
  const auto policy = (*find_policy(policy_name))->make({});
  Rng rng(1);
  Plan plan;
  (*policy)->decide(state.view(0), **predictors, rng, plan);
  std::map<JobId, std::set<ServerId>> servers;
  for (const Action& action : plan.actions) servers[action.job].insert(action.to.server);
  std::vector<std::size_t> out;
  for (const auto& [job, on] : servers) out.push_back(on.size());
  return out;
}

TEST(Graphene, HardToPackGoFirstAndTheOthersAroundThem) {
  EXPECT_EQ(servers_of_each("smith"), (std::vector<std::size_t>{1, 1, 1, 2}));
  EXPECT_EQ(servers_of_each("graphene"), (std::vector<std::size_t>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace berth
