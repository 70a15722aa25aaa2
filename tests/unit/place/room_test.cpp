#include "place/room.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "place/free_index.h"
#include "support/training.h"
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

class RoomTest : public ::testing::Test {
 protected:
  void use(const Cluster& cluster) {
    cluster_ = cluster;
    state_.emplace(cluster_, std::vector<Job>{});
    room_.read(state_->view(0));
  }
  std::vector<std::uint32_t> take(const Job& job, std::uint32_t tasks) {
    std::vector<Placement> places;
    room_.take(job, tasks, places);
    return devices_of(places);
  }
  using Devices = std::vector<std::uint32_t>;

  Cluster cluster_;
  std::optional<ClusterState> state_;
  Room room_;
};

TEST_F(RoomTest, TheServerWithTheLeastToSpareThenTheLargest) {
  use(testing::cluster_of("3x4"));
  EXPECT_EQ(take(job_of(3), 3), (Devices{0, 1, 2}));
  EXPECT_EQ(take(job_of(2), 2), (Devices{4, 5}));
  EXPECT_EQ(take(job_of(1), 1), (Devices{3}));
  EXPECT_EQ(take(job_of(6), 6), (Devices{8, 9, 10, 11, 6, 7}));
  EXPECT_EQ(room_.free_milli(), 0);
}

TEST_F(RoomTest, AsManyAsThereAre) {
  use(testing::cluster_of("1x3"));
  EXPECT_EQ(take(job_of(8), 8), (Devices{0, 1, 2}));
  EXPECT_EQ(take(job_of(8), 8), Devices{});
}

TEST_F(RoomTest, AllOrNone) {
  use(testing::cluster_of("2x2"));
  std::vector<Placement> places;
  EXPECT_FALSE(room_.take_all(job_of(5), 5, places));
  EXPECT_TRUE(places.empty());
  EXPECT_EQ(room_.free_milli(), 4000);
  // Five halves hold on four devices, three of 600 do not on two.
  EXPECT_TRUE(room_.take_all(job_of(5, 500), 5, places));
  EXPECT_EQ(room_.free_milli(), 1500);
  EXPECT_FALSE(room_.take_all(job_of(3, 600), 3, places));
}

TEST_F(RoomTest, SharesFillWhatIsUsedOrSpread) {
  use(testing::cluster_of("2x2"));
  EXPECT_EQ(take(job_of(1, 400), 1), (Devices{0}));
  EXPECT_EQ(take(job_of(1, 400), 1), (Devices{0}));
  EXPECT_EQ(take(job_of(1, 400), 1), (Devices{1}));
  room_.spread(true);
  EXPECT_EQ(take(job_of(1, 400), 1), (Devices{2}));
  EXPECT_EQ(take(job_of(1, 400), 1), (Devices{3}));
  // One server rather than two, but its devices in turn.
  EXPECT_EQ(take(job_of(2, 200), 2), (Devices{2, 3}));
}

TEST_F(RoomTest, JustThesePlacesOrNone) {
  use(testing::cluster_of("1x2"));
  const Job job = job_of(2, 600);
  const std::vector<Placement> own = {{ServerId{0U}, DeviceId{0U}}, {ServerId{0U}, DeviceId{1U}}};
  EXPECT_TRUE(room_.hold_if_free(job, own));
  room_.give_back(job, own);
  EXPECT_EQ(take(job_of(1, 500), 1), (Devices{0}));
  EXPECT_FALSE(room_.hold_if_free(job, own));
  EXPECT_EQ(room_.free_milli(), 1500);
}

TEST_F(RoomTest, NothingRunsWhereAServerIsDown) {
  use(testing::cluster_of("2x2"));
  state_->set_server_up(ServerId{0U}, false);
  state_->set_device_up(DeviceId{2U}, false);
  room_.read(state_->view(0));
  EXPECT_EQ(room_.free_milli(), 1000);
  EXPECT_EQ(take(job_of(2), 2), (Devices{3}));
}

// The index of free places finds room exactly where this does: random jobs come and go on random
// clusters with cores, memory and GPU types.
TEST(Room, FindsRoomWhereTheIndexDoes) {
  for (int seed = 0; seed < testing::cases(300); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const Cluster cluster = testing::random_training_cluster(rng);
    const Workload jobs = testing::random_training(rng, cluster);
    const ClusterState state(cluster, {});
    FreeIndex index;
    index.rebuild(state.view(0));
    Room room;
    room.read(state.view(0));
    std::vector<std::pair<Job, std::vector<Placement>>> held;
    for (int step = 0; step < 60; ++step) {
      if (!held.empty() && rng.chance(0.4)) {
        const std::size_t h = rng.below(held.size());
        index.give_back(held[h].first, held[h].second);
        room.give_back(held[h].first, held[h].second);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(h));
        continue;
      }
      Job job = jobs.jobs[rng.below(jobs.jobs.size())];
      if (job.gpu_milli_per_task == 0) continue;
      job.parameter_servers = 0;
      job.tasks = job.replicas * job.partitions();
      Room copy = room;
      std::vector<Placement> found;
      std::vector<Placement> places;
      const bool fits = copy.take_all(job, job.tasks, found);
      ASSERT_EQ(index.take(job, places), fits) << "step " << step;
      if (!fits) continue;
      EXPECT_EQ(found.size(), job.tasks);
      room.hold(job, places);
      held.emplace_back(job, places);
    }
  }
}

}  // namespace
}  // namespace berth
