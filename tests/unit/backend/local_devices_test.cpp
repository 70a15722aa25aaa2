// GPUs: given to tasks by their UUIDs, left alone where others use them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/backend/local_harness.h"

namespace berth::testing {
namespace {

class LocalDevices : public ::testing::Test {
 protected:
  LocalDevices() {
    set("GPU-a A100 85899345920 10 ok\nGPU-b A100 85899345920 10 ok\nGPU-c T4 17179869184 0 ok\n");
    ::setenv("BERTH_FAKE_NVML", file().c_str(), 1);
  }
  ~LocalDevices() override { ::unsetenv("BERTH_FAKE_NVML"); }

  [[nodiscard]] std::string file() const { return folder_.path() + "/gpus"; }
  void set(const std::string& text) const {
    std::ofstream(file() + ".new") << text;
    std::filesystem::rename(file() + ".new", file());
  }
  [[nodiscard]] LocalOptions options() const {
    LocalOptions options = local_options(folder_.path());
    options.nvml = BERTH_FAKE_NVML_LIBRARY;
    options.device_poll_us = kUsPerS / 100;
    return options;
  }

  Folder folder_;
};

TEST_F(LocalDevices, DescribesThisMachine) {
  const LocalHarness harness(options());
  const Cluster& cluster = harness.backend->cluster();
  ASSERT_EQ(cluster.devices.size(), 3U);
  ASSERT_EQ(cluster.servers.size(), 2U);  // one a kind of GPU
  EXPECT_EQ(cluster.gpu_types[0].name, "A100");
  EXPECT_EQ(cluster.gpu_types[0].memory_mib, 81920);
  EXPECT_EQ(cluster.gpu_types[1].name, "T4");
  const auto cpu = [&](std::size_t server) {
    return cluster.servers[server].capacity[Resource::kCpuMilli];
  };
  EXPECT_GT(cpu(1), 0);
  EXPECT_GE(cpu(0), 2 * cpu(1));
  EXPECT_GT(cluster.servers[0].capacity[Resource::kMemoryMib], 0);
}

TEST_F(LocalDevices, DescribesAMachineWithoutGpus) {
  LocalOptions without = options();
  without.nvml = "/no/such/library.so";
  const LocalHarness harness(without);
  const Cluster& cluster = harness.backend->cluster();
  EXPECT_TRUE(cluster.devices.empty());
  ASSERT_EQ(cluster.servers.size(), 1U);
  EXPECT_GE(cluster.servers[0].capacity[Resource::kCpuMilli], 1);
  EXPECT_TRUE(harness.backend->usable_devices().empty());
}

TEST_F(LocalDevices, NamesThemByUuid) {
  LocalHarness harness(options());
  AttemptLaunch launch = shell("1.1", "echo \"[$CUDA_VISIBLE_DEVICES]\"", 2);
  launch.environment = {{"CUDA_VISIBLE_DEVICES", "all of them"}};
  launch.tasks[0].devices = {DeviceId{2U}, DeviceId{0U}};
  EXPECT_TRUE(harness.run(launch).success());
  EXPECT_EQ(harness.out("1.1", 0), "[GPU-c,GPU-a]\n");
  EXPECT_EQ(harness.out("1.1", 1), "[]\n");
}

TEST_F(LocalDevices, NumbersThoseThatAreNotKnown) {
  LocalOptions given = options();
  given.nvml = "";
  given.cluster = *named_cluster("2x4").value();
  LocalHarness harness(given);
  AttemptLaunch launch = shell("1.1", "echo \"[$CUDA_VISIBLE_DEVICES]\"");
  launch.tasks[0].devices = {DeviceId{4U}, DeviceId{7U}};
  EXPECT_TRUE(harness.run(launch).success());
  EXPECT_EQ(harness.out("1.1"), "[0,3]\n");
}

TEST_F(LocalDevices, LeavesThoseOfOthersAlone) {
  LocalHarness harness(options());
  EXPECT_EQ(harness.backend->usable_devices(), (std::vector<bool>{true, true, true}));
  // A task of ours, this process, and one that fell off the bus.
  ASSERT_TRUE(harness.runs(shell("1.1", "sleep 1000 & echo $!; wait")));
  ASSERT_TRUE(harness.says("1.1", "0.out", "\n"));
  const std::string child = std::to_string(std::stoi(harness.out("1.1")));
  set("GPU-a A100 1 0 ok " + child + "\nGPU-b A100 1 0 ok " + std::to_string(::getpid()) +
      "\nGPU-c T4 1 0 lost\n");
  EXPECT_TRUE(harness.until([&] {
    return harness.backend->usable_devices() == std::vector<bool>{true, false, false};
  }));
  EXPECT_GE(harness.device_changes, 1);
  set("GPU-a A100 1 0 ok\nGPU-b A100 1 0 ok\nGPU-c T4 1 0 ok\n");
  EXPECT_TRUE(harness.until([&] {
    return harness.backend->usable_devices() == std::vector<bool>{true, true, true};
  }));
  harness.backend->stop("1.1", true);
  (void)harness.end_of("1.1");
}

}  // namespace
}  // namespace berth::testing
