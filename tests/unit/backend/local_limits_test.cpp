// What holds tasks within their CPUs and memory.
#include <gtest/gtest.h>
#include <signal.h>

#include "backend/local/limits.h"
#include "backend/local/task_group.h"
#include "unit/backend/local_harness.h"

namespace berth::local {
namespace {

using berth::testing::Folder;
using berth::testing::local_options;
using berth::testing::LocalHarness;
using berth::testing::shell;
using berth::testing::text_of;

TEST(LocalLimits, FindsControlGroups) {
  const auto mounts = group_mounts(
      "30 22 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "31 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "34 30 0:31 /docker/x /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,memory\n"
      "40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
      "damaged\n",
      "4:memory:/docker/x/y\n1:cpu,cpuacct:/\n0::/user.slice\nno colons\n");
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(mounts[0].own, "/sys/fs/cgroup/cpu");
  EXPECT_EQ(mounts[1].own, "/sys/fs/cgroup/memory/y");
  EXPECT_TRUE(mounts[2].unified);
  EXPECT_EQ(mounts[2].own, "/sys/fs/cgroup/unified/user.slice");
  EXPECT_TRUE(group_mounts("", "").empty());
}

// A folder that looks like a control group of version 2; the kernel would make its files.
void look_like_a_group(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const char* file : {"cgroup.procs", "cgroup.subtree_control", "cpu.max", "memory.max",
                           "cgroup.kill", "memory.events"}) {
    std::ofstream(folder + "/" + file) << "";
  }
  std::ofstream(folder + "/cgroup.controllers") << "cpuset cpu io memory pids\n";
}

TEST(LocalLimits, DividesAGroupOfVersionTwo) {
  const Folder folder;
  const std::string own = folder.path() + "/own";
  for (const char* name : {"", "/berth-daemon", "/berth-x", "/berth-x/7.1.0"}) {
    look_like_a_group(own + name);
  }
  const Limits limits = Limits::probe("berth-x", true, {{.unified = true, .own = own}});
  EXPECT_EQ(limits.folders().unified, own + "/berth-x");
  EXPECT_EQ(text_of(own + "/berth-daemon/cgroup.procs"), "0");
  EXPECT_EQ(text_of(own + "/cgroup.subtree_control"), "+cpu +memory");
  EXPECT_EQ(text_of(own + "/berth-x/cgroup.subtree_control"), "+cpu +memory");
  EXPECT_NE(limits.describe().at(0).find("version 2"), std::string::npos);

  TaskRequest task;
  task.limits = {.cpu_milli = 1500, .memory_mib = 64};
  const auto group = TaskGroup::make(limits.folders(), "7.1", task);
  ASSERT_TRUE(group) << group.error().text();
  const std::string made = own + "/berth-x/7.1.0";
  EXPECT_EQ(text_of(made + "/cpu.max"), "150000 100000");
  EXPECT_EQ(text_of(made + "/memory.max"), "67108864");
  EXPECT_TRUE(group->join());
  EXPECT_EQ(text_of(made + "/cgroup.procs"), "0");
  EXPECT_FALSE(group->out_of_memory());
  std::ofstream(made + "/memory.events") << "low 0\noom 1\noom_kill 2\n";
  EXPECT_TRUE(group->out_of_memory());
  group->kill();
  EXPECT_EQ(text_of(made + "/cgroup.kill"), "1");
}

TEST(LocalLimits, PinsWhereThereAreNoGroups) {
  Limits limits = Limits::probe("berth-x", true, {});
  EXPECT_NE(limits.describe().at(0).find("pinned"), std::string::npos);
  EXPECT_NE(limits.describe().at(1).find("NOT limited"), std::string::npos);
  const auto cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(limits.take(0, 0).cpus.empty());
  // One each: those that are least pinned to come first, and all are used alike.
  std::vector<std::uint32_t> given;
  for (std::size_t i = 0; i < cpus.size(); ++i) given.push_back(limits.take(700, 0).cpus.at(0));
  std::sort(given.begin(), given.end());
  EXPECT_EQ(given, cpus);
  limits.give_back({cpus.back()});
  EXPECT_EQ(limits.take(1000, 0).cpus, std::vector<std::uint32_t>{cpus.back()});
  EXPECT_EQ(limits.take(1'000'000'000, 0).cpus, cpus);
}

TEST(LocalLimits, SwitchedOffTheyHoldNothing) {
  Limits limits = Limits::probe("berth-x", false, own_group_mounts());
  EXPECT_EQ(limits.take(1000, 10), TaskLimits{});
  EXPECT_EQ(limits.folders(), GroupFolders{});
}

// On this machine, as far as it lets us.
class LocalLimitsHere : public ::testing::Test {
 protected:
  Folder folder_;
  LocalHarness harness_{local_options(folder_.path())};
};

TEST_F(LocalLimitsHere, HoldCpus) {
  AttemptLaunch launch =
      shell("1.1", "grep Cpus_allowed_list /proc/self/status; cat /proc/self/cgroup");
  launch.tasks[0].cpu_milli = 500;
  EXPECT_TRUE(harness_.run(launch).success());
  const std::string out = harness_.out("1.1");
  const std::string how = harness_.backend->limits().at(0);
  if (how.find("pinned") != std::string::npos) {
    EXPECT_EQ(out.find_first_of(",-", out.find('\t')), std::string::npos) << out;
  } else {
    EXPECT_NE(out.find("/1.1.0\n"), std::string::npos) << how << "\n" << out;
  }
}

TEST_F(LocalLimitsHere, HoldMemory) {
  if (harness_.backend->limits().at(1).find("NOT limited") != std::string::npos) {
    GTEST_SKIP() << harness_.backend->limits().at(1);
  }
  AttemptLaunch launch = shell("1.1", "exec tail /dev/zero");
  launch.tasks[0].memory_mib = 32;
  const AttemptEnd end = harness_.run(launch);
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_EQ(end.tasks.at(0).signal, SIGKILL);
  EXPECT_TRUE(end.tasks.at(0).out_of_memory);
  EXPECT_LE(end.tasks.at(0).max_rss_bytes, std::int64_t{40} << 20);
}

}  // namespace
}  // namespace berth::local
