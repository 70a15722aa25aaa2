#include "place/ideal_server.h"

#include <gtest/gtest.h>

#include <map>

#include "model/cluster_state.h"
#include "support/placing.h"

namespace berth {
namespace {

// Three servers of two GPUs, ten cores and 10,000 MiB.
Cluster three_servers() {
  Cluster cluster;
  cluster.gpu_types.push_back({});
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = 10'000;
  capacity[Resource::kMemoryMib] = 10'000;
  for (const char* const name : {"a", "b", "c"}) {
    cluster.add_server(name, GpuTypeId{0U}, 2, capacity);
  }
  return cluster;
}

Job job_of(std::uint32_t tasks, std::uint32_t milli, std::uint32_t cpu_milli = 0) {
  Job job;
  job.tasks = tasks;
  job.gpu_milli_per_task = milli;
  job.cpu_milli_per_task = cpu_milli;
  return job;
}

class IdealServerTest : public ::testing::Test {
 protected:
  // All jobs arrive; the first ones start on these devices, task by task.
  void arrange(std::vector<Job> jobs, const std::vector<std::vector<std::uint32_t>>& devices = {},
               std::vector<TaskGraph> graphs = {}) {
    const std::size_t count = jobs.size();
    state_.emplace(cluster_, std::move(jobs), std::move(graphs));
    for (std::size_t j = 0; j < count; ++j) state_->arrive();
    for (std::size_t j = 0; j < devices.size(); ++j) {
      std::vector<Placement> places;
      for (const std::uint32_t d : devices[j]) places.push_back({ServerId{d / 2}, DeviceId{d}});
      ASSERT_EQ(testing::start_job(*state_, JobId{j}, places, 0), "");
    }
  }
  // The devices of the job's tasks; nothing if it does not fit.
  std::vector<std::uint32_t> devices_of(JobId id, const IdealServerRules& rules = {}) {
    view_ = state_->view(0);
    free_.rebuild(view_);
    IdealServerPlacer placer(free_, rules);
    placer.begin(view_);
    const bool fits = placer.fits(view_.job(id));
    std::vector<Placement> places;
    EXPECT_EQ(placer.take(id, view_.job(id), places), fits);
    std::vector<std::uint32_t> out;
    for (const Placement& place : places) out.push_back(place.device.value);
    server_of_last_ = places.empty() ? ServerId{} : places.back().server;
    return out;
  }

  Cluster cluster_ = three_servers();
  std::optional<ClusterState> state_;
  ClusterView view_;
  FreeIndex free_;
  ServerId server_of_last_;
};

using Devices = std::vector<std::uint32_t>;

// Nobody exchanges anything: each task goes where least is used.
TEST_F(IdealServerTest, LeastUsedServerWithoutTraffic) {
  arrange({job_of(3, 1000)});
  EXPECT_EQ(devices_of(JobId{0U}), (Devices{0, 2, 4}));
}

TaskGraph chain(std::uint32_t tasks) {
  TaskGraph graph;
  graph.tasks.resize(tasks, {.parameters = 1, .compute_us = 1, .exchange_bytes = 10});
  for (std::uint32_t k = 0; k + 1 < tasks; ++k) graph.edges.push_back({k, k + 1, 100});
  return graph;
}

// After the first task, server a is at 0.5 of its GPUs and has all the traffic: 0.5 away from the
// ideal. The others are at no use and have none: 1 away. The third finds a full.
TEST_F(IdealServerTest, TasksThatExchangeStayTogether) {
  Job job = job_of(3, 1000);
  job.graph = TaskGraphId{0U};
  arrange({job}, {}, {chain(3)});
  EXPECT_EQ(devices_of(JobId{0U}), (Devices{0, 1, 2}));
  EXPECT_EQ(devices_of(JobId{0U}, {.traffic_weight = 0.4}), (Devices{0, 2, 4}));
}

// Two tasks on a, one on b: the parameter server exchanges most with a.
TEST_F(IdealServerTest, TheParameterServerGoesWhereItsTrafficIs) {
  Job job = job_of(4, 1000);
  job.parameter_servers = 1;
  job.graph = TaskGraphId{0U};
  TaskGraph graph = chain(3);
  graph.comm = CommStructure::kParameterServer;
  arrange({job}, {}, {graph});
  EXPECT_EQ(devices_of(JobId{0U}), (Devices{0, 1, 2, DeviceId::kNone}));
  EXPECT_EQ(server_of_last_, ServerId{0U});
}

// On a, device 0 has 0.3 free and device 1 all; least used is b. There the first device.
TEST_F(IdealServerTest, LeastLoadedDeviceOfTheServer) {
  arrange({job_of(1, 700), job_of(2, 100), job_of(1, 200)}, {{0}, {2, 4}});
  EXPECT_EQ(devices_of(JobId{2U}), (Devices{3}));
}

// Up to 0.9 of a device: 0.5 beside 0.4, but not beside 0.5; 0.95 alone on an empty one.
TEST_F(IdealServerTest, DevicesAreFilledUpToTheCap) {
  const std::vector<Devices> all_but_5{{0, 1, 2, 3, 4}};
  arrange({job_of(5, 400), job_of(2, 500), job_of(1, 950), job_of(1, 600)}, all_but_5);
  EXPECT_EQ(devices_of(JobId{1U}), (Devices{5, 0}));
  EXPECT_EQ(devices_of(JobId{2U}), (Devices{5}));
  EXPECT_EQ(devices_of(JobId{3U}), (Devices{5}));
  arrange({job_of(6, 400), job_of(1, 950), job_of(1, 600)}, {{0, 1, 2, 3, 4, 5}});
  EXPECT_EQ(devices_of(JobId{1U}), Devices{});
  EXPECT_EQ(devices_of(JobId{2U}), Devices{});
  EXPECT_EQ(devices_of(JobId{2U}, {.most_use = 1.0}), (Devices{0}));
}

// A core is left under 0.9 of a and of b; c has all.
TEST_F(IdealServerTest, CoresAreFilledUpToTheCap) {
  arrange({job_of(2, 100, 8'000), job_of(1, 100, 2'000), job_of(2, 100, 5'000)}, {{0, 2}});
  EXPECT_EQ(devices_of(JobId{1U}), (Devices{4}));
  EXPECT_EQ(devices_of(JobId{2U}), (Devices{4, 5}));  // it would not fit else: c is empty
}

TEST_F(IdealServerTest, AnEmptyServerTakesWhatAsksForMoreThanTheCap) {
  arrange({job_of(1, 100, 9'500), job_of(1, 100, 500)});
  EXPECT_EQ(devices_of(JobId{0U}), (Devices{0}));
}

// Twelve halves are two for each device, all that there is: it would never run else.
TEST_F(IdealServerTest, AJobTooLargeForTheCapIsPlacedAllTheSame) {
  arrange({job_of(12, 500)});
  EXPECT_EQ(devices_of(JobId{0U}).size(), 12U);
  arrange({job_of(13, 500)});
  EXPECT_EQ(devices_of(JobId{0U}), Devices{});
}

// It ran on b and c. By use both would go to a and b.
TEST_F(IdealServerTest, WhoRanBeforeGoesBack) {
  arrange({job_of(2, 1000)}, {{3, 5}});
  EXPECT_EQ(testing::preempt_job(*state_, JobId{0U}, 1), "");
  EXPECT_EQ(devices_of(JobId{0U}), (Devices{2, 4}));
  EXPECT_EQ(devices_of(JobId{0U}, {.movement_weight = 0}), (Devices{0, 2}));
}

std::map<std::uint32_t, std::int64_t> peers_of(const TaskTraffic& traffic, std::uint32_t task) {
  std::map<std::uint32_t, std::int64_t> out;
  traffic.for_each_peer(task, [&](std::uint32_t peer, std::int64_t bytes) { out[peer] += bytes; });
  return out;
}

using Peers = std::map<std::uint32_t, std::int64_t>;

// Two replicas of a chain of three.
TEST(TaskTraffic, EdgesAndExchange) {
  Job job = job_of(6, 1000);
  job.replicas = 2;
  TaskGraph graph = chain(3);
  TaskTraffic traffic;
  traffic.read(job, &graph);
  EXPECT_EQ(peers_of(traffic, 4), (Peers{{3, 100}, {5, 100}}));
  graph.comm = CommStructure::kAllReduce;
  traffic.read(job, &graph);
  EXPECT_EQ(peers_of(traffic, 3), (Peers{{0, 20}, {4, 100}}));
  graph.comm = CommStructure::kParameterServer;
  job.parameter_servers = 1;
  job.tasks = 7;
  traffic.read(job, &graph);
  EXPECT_EQ(peers_of(traffic, 0), (Peers{{1, 100}, {6, 10}}));
  EXPECT_EQ(peers_of(traffic, 6), (Peers{{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}}));
  traffic.read(job, nullptr);
  EXPECT_EQ(peers_of(traffic, 0), Peers{});
}

}  // namespace
}  // namespace berth
