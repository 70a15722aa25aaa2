#include "place/free_index.h"

#include <gtest/gtest.h>

#include <map>

#include "model/cluster_state.h"
#include "support/workloads.h"

namespace berth {
namespace {

Job job_of(std::uint32_t tasks, std::uint32_t milli = 1000) {
  Job job;
  job.tasks = tasks;
  job.gpu_milli_per_task = milli;
  return job;
}

std::vector<std::uint32_t> devices_of(const std::vector<Placement>& places) {
  std::vector<std::uint32_t> out;
  for (const Placement& place : places) out.push_back(place.device.value);
  return out;
}

class FreeIndexTest : public ::testing::Test {
 protected:
  void use(const Cluster& cluster) {
    cluster_ = cluster;
    state_.emplace(cluster_, std::vector<Job>{});
    index_.rebuild(state_->view(0));
  }
  Cluster cluster_;
  std::optional<ClusterState> state_;
  FreeIndex index_;
  std::vector<Placement> places_;
};

TEST_F(FreeIndexTest, TheFullestServerThatHoldsAllIsTaken) {
  use(testing::cluster_of("3x4"));
  ASSERT_TRUE(index_.take(job_of(3), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{0, 1, 2}));
  ASSERT_TRUE(index_.take(job_of(2), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{4, 5}));
  ASSERT_TRUE(index_.take(job_of(1), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{3}));
  // Six: the empty server whole, the rest where two are left.
  ASSERT_TRUE(index_.take(job_of(6), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{8, 9, 10, 11, 6, 7}));
  EXPECT_FALSE(index_.take(job_of(1), places_));
}

// KAI-Scheduler#2153: sixteen halves on eight GPUs, in a batch or one by one: exactly two a GPU.
TEST_F(FreeIndexTest, TwoHalvesAGpu) {
  for (const std::uint32_t batch : {1U, 16U}) {
    use(testing::cluster_of("2x4"));
    std::map<std::uint32_t, int> tasks;
    for (std::uint32_t i = 0; i < 16 / batch; ++i) {
      ASSERT_TRUE(index_.take(job_of(batch, 500), places_));
      for (const auto device : devices_of(places_)) ++tasks[device];
    }
    EXPECT_EQ(tasks.size(), 8U);
    for (const auto& [device, count] : tasks) EXPECT_EQ(count, 2) << device;
    EXPECT_FALSE(index_.take(job_of(1, 500), places_));
  }
}

// ray#52133: 80 x 0.18 on 2 x 8 GPUs: five a GPU, all placed; the 81st waits.
TEST_F(FreeIndexTest, FractionsDoNotHangOver) {
  use(testing::cluster_of("2x8"));
  std::map<std::uint32_t, int> tasks;
  for (int i = 0; i < 80; ++i) {
    ASSERT_TRUE(index_.take(job_of(1, 180), places_)) << i;
    ++tasks[places_[0].device.value];
  }
  for (const auto& [device, count] : tasks) EXPECT_EQ(count, 5) << device;
  EXPECT_FALSE(index_.take(job_of(1, 180), places_));
  EXPECT_EQ(index_.free_milli(kAnyGpuType), 16 * 100);
}

TEST_F(FreeIndexTest, NothingIsTakenOfAGangThatDoesNotFit) {
  use(testing::cluster_of("1x2"));
  ASSERT_TRUE(index_.take(job_of(1, 600), places_));
  EXPECT_FALSE(index_.take(job_of(3, 600), places_));
  EXPECT_EQ(index_.free_milli(kAnyGpuType), 1400);
  ASSERT_TRUE(index_.take(job_of(1, 600), places_));
}

TEST_F(FreeIndexTest, WhatWasTakenTentativelyIsForgotten) {
  use(testing::cluster_of("2x2"));
  ASSERT_TRUE(index_.take(job_of(3), places_));
  index_.undo_tentative(state_->view(0));
  EXPECT_EQ(index_.whole_free_milli(kAnyGpuType), 4000);
}

TEST_F(FreeIndexTest, ServersThatAreDownHoldNothing) {
  use(testing::cluster_of("2x2"));
  state_->set_server_up(ServerId{0U}, false);
  index_.sync_server(state_->view(0), ServerId{0U});
  EXPECT_EQ(index_.capacity_milli(kAnyGpuType), 2000);
  EXPECT_FALSE(index_.take(job_of(3), places_));
  ASSERT_TRUE(index_.take(job_of(1, 0), places_));
  EXPECT_EQ(places_[0].server, ServerId{1U});
  state_->set_server_up(ServerId{1U}, false);
  index_.sync_server(state_->view(0), ServerId{1U});
  EXPECT_FALSE(index_.take(job_of(1, 0), places_));
}

TEST_F(FreeIndexTest, AGangThatSharesDevicesStaysTogether) {
  use(testing::cluster_of("2x2"));
  ASSERT_TRUE(index_.take(job_of(1, 600), places_));  // leaves 400 of device 0
  ASSERT_TRUE(index_.take(job_of(3, 500), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{2, 2, 3}));
  // No server holds three: the roomiest first.
  ASSERT_TRUE(index_.take(job_of(3, 500), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{1, 1, 3}));
}

Cluster servers_with_cores(std::uint32_t servers, std::uint32_t gpus, std::int64_t cpu_milli) {
  Cluster cluster;
  cluster.gpu_types.push_back({});
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = cpu_milli;
  for (std::uint32_t s = 0; s < servers; ++s) {
    cluster.add_server("s" + std::to_string(s), GpuTypeId{0U}, gpus, capacity);
  }
  return cluster;
}

Job with_cores(Job job, std::uint32_t cpu_milli) {
  job.cpu_milli_per_task = cpu_milli;
  return job;
}

// Eight cores: two tasks of three. The third goes elsewhere, the fifth nowhere.
TEST_F(FreeIndexTest, SharesGoWhereThereAreCores) {
  use(servers_with_cores(2, 4, 8'000));
  const Job job = with_cores(job_of(1, 200), 3'000);
  for (const std::uint32_t server : {0U, 0U, 1U, 1U}) {
    ASSERT_TRUE(index_.take(job, places_));
    EXPECT_EQ(places_[0].server, ServerId{server});
  }
  EXPECT_FALSE(index_.fits(job));
  EXPECT_FALSE(index_.take(job, places_));
  EXPECT_TRUE(index_.fits(job_of(1, 200)));
}

// Who asks for more than any server has runs where nothing else does.
TEST_F(FreeIndexTest, MoreCoresThanAServerHas) {
  use(servers_with_cores(2, 2, 8'000));
  const Job job = with_cores(job_of(1, 200), 10'000);
  for (const std::uint32_t server : {0U, 1U}) {
    ASSERT_TRUE(index_.take(job, places_));
    EXPECT_EQ(places_[0].server, ServerId{server});
  }
  EXPECT_FALSE(index_.fits(job));
}

// Whole devices rather with cores, but without them before they stay free.
TEST_F(FreeIndexTest, WholeDevicesRatherWithCores) {
  use(servers_with_cores(2, 4, 8'000));
  const Job job = with_cores(job_of(1), 6'000);
  for (const std::uint32_t server : {0U, 1U, 0U, 0U}) {
    ASSERT_TRUE(index_.take(job, places_));
    EXPECT_EQ(places_[0].server, ServerId{server});
  }
  // A gang of two whose cores one server has only for one is spread.
  use(servers_with_cores(2, 4, 8'000));
  ASSERT_TRUE(index_.take(with_cores(job_of(2), 6'000), places_));
  EXPECT_EQ(devices_of(places_), (std::vector<std::uint32_t>{0, 4}));
}

}  // namespace
}  // namespace berth
