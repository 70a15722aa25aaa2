#include "place/empty_devices.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "support/workloads.h"

namespace berth {
namespace {

TEST(EmptyDevices, AShareTakesADeviceOfItsOwnAndLeavesTheRest) {
  Cluster cluster = testing::cluster_of("2x2");
  cluster.gpu_types[0].memory_mib = 16'000;
  const ClusterState state(cluster, {});
  FreeIndex free;
  free.rebuild(state.view(0));
  Job job;
  job.tasks = 2;
  job.gpu_milli_per_task = 300;
  job.gpu_memory_mib_per_task = 5'000;
  std::vector<Placement> places;
  for (std::uint32_t server = 0; server < 2; ++server) {
    ASSERT_TRUE(take_empty(free, job, places));
    ASSERT_EQ(places.size(), 2U);
    for (const Placement& place : places) {
      EXPECT_EQ(place.server.value, server);
      EXPECT_EQ(free.free_milli_of(place.device), 700U);
      EXPECT_EQ(free.free_mib_of(place.device), 11'000);
    }
  }
  EXPECT_FALSE(fits_empty(free, job));
  EXPECT_FALSE(take_empty(free, job, places));
  EXPECT_TRUE(free.fits(job));
  EXPECT_EQ(free.free_milli(kAnyGpuType), 4 * 700);
}

// Three tasks of 0.3 on two devices: there is no device for each, ever.
TEST(EmptyDevices, WhoHasMoreTasksThanThereAreDevicesTakesShares) {
  const Cluster cluster = testing::cluster_of("1x2");
  const ClusterState state(cluster, {});
  FreeIndex free;
  free.rebuild(state.view(0));
  Job job;
  job.tasks = 3;
  job.gpu_milli_per_task = 300;
  EXPECT_TRUE(must_share_with_itself(free, job));
  std::vector<Placement> places;
  ASSERT_TRUE(take_empty(free, job, places));
  EXPECT_EQ(places.size(), 3U);
  EXPECT_EQ(free.free_milli(kAnyGpuType), 2 * kWholeGpuMilli - 900);
}

TEST(EmptyDevices, WholeDevicesAndNone) {
  const Cluster cluster = testing::cluster_of("1x2");
  const ClusterState state(cluster, {});
  FreeIndex free;
  free.rebuild(state.view(0));
  Job job;
  job.tasks = 1;
  std::vector<Placement> places;
  ASSERT_TRUE(take_empty(free, job, places));
  EXPECT_EQ(free.whole_free_of(ServerId{0U}), 1U);
  Job cpu_job;
  cpu_job.gpu_milli_per_task = 0;
  ASSERT_TRUE(take_empty(free, cpu_job, places));
  EXPECT_FALSE(places[0].device.valid());
  EXPECT_EQ(free.whole_free_of(ServerId{0U}), 1U);
}

}  // namespace
}  // namespace berth
