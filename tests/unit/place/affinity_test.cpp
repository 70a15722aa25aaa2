#include "place/affinity.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "support/placing.h"
#include "support/workloads.h"

namespace berth {
namespace {

Job job_of(std::uint32_t gpus, std::uint32_t milli = 1000) {
  Job job;
  job.tasks = gpus;
  job.gpu_milli_per_task = milli;
  return job;
}

// Three servers of four GPUs. A job of one GPU runs on the first, one of two on the second.
class AffinityTest : public ::testing::Test {
 protected:
  AffinityTest() {
    state_.arrive();
    state_.arrive();
    EXPECT_EQ(testing::start_job(state_, JobId{0U}, at({0}), 0), "");
    EXPECT_EQ(testing::start_job(state_, JobId{1U}, at({4, 5}), 0), "");
    view_ = state_.view(0);
    running_.grow(2);
    running_.insert(0);
    running_.insert(1);
    free_.rebuild(view_);
    placer_.begin(view_, running_);
  }
  static std::vector<Placement> at(const std::vector<std::uint32_t>& devices) {
    std::vector<Placement> places;
    for (const std::uint32_t device : devices) {
      places.push_back({ServerId{device / 4}, DeviceId{device}});
    }
    return places;
  }
  std::vector<Placement> take(const Job& job) {
    std::vector<Placement> places;
    EXPECT_TRUE(placer_.take(JobId{}, job, places));
    return places;
  }

  Cluster cluster_ = testing::cluster_of("3x4");
  ClusterState state_{cluster_, {job_of(1), job_of(2)}};
  ClusterView view_;
  IdSet running_;
  FreeIndex free_;
  AffinityPlacer placer_{free_};
};

TEST_F(AffinityTest, ServersKeepToTheWidthOfTheirJobs) {
  EXPECT_EQ(placer_.affinity(ServerId{0U}), 1U);
  EXPECT_EQ(placer_.affinity(ServerId{1U}), 2U);
  EXPECT_EQ(placer_.affinity(ServerId{2U}), 0U);
  EXPECT_EQ(take(job_of(2)), at({6, 7}));
  EXPECT_EQ(take(job_of(1)), at({1}));
}

TEST_F(AffinityTest, ThenAServerWithoutJobsThenAny) {
  EXPECT_EQ(take(job_of(3)), at({8, 9, 10}));
  EXPECT_EQ(placer_.affinity(ServerId{2U}), 3U);
  EXPECT_EQ(take(job_of(3)), at({1, 2, 3}));
}

TEST_F(AffinityTest, AServerIsKeptToTheWidthItWasFirstTakenFor) {
  EXPECT_EQ(take(job_of(2)), at({6, 7}));
  EXPECT_EQ(take(job_of(2)), at({8, 9}));
  EXPECT_EQ(take(job_of(2)), at({10, 11}));
}

TEST_F(AffinityTest, WiderThanAServer) {
  EXPECT_EQ(take(job_of(6)).size(), 6U);
  EXPECT_FALSE(placer_.fits(job_of(6)));
}

TEST_F(AffinityTest, ASharedDeviceIsNotEmpty) {
  for (int i = 0; i < 9; ++i) (void)take(job_of(1, 100));
  EXPECT_FALSE(placer_.fits(job_of(1, 100)));
  EXPECT_TRUE(free_.fits(job_of(1, 100)));
  EXPECT_EQ(placer_.free_milli(kAnyGpuType), 0);
  EXPECT_EQ(placer_.asked_milli(job_of(2, 100)), 2000);
}

}  // namespace
}  // namespace berth
