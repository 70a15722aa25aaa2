// What becomes of attempts on this machine: they run as written, end together, and stop when told.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "backend/local/process.h"
#include "unit/backend/local_harness.h"

namespace berth::testing {
namespace {

class LocalRun : public ::testing::Test {
 protected:
  Folder folder_;
  LocalHarness harness_{local_options(folder_.path())};
};

TEST_F(LocalRun, TellsStartAndEnd) {
  const AttemptEnd end = harness_.run(launch_of("1.1", {"/bin/true"}));
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_TRUE(end.success());
  EXPECT_TRUE(harness_.started.contains("1.1"));
  ASSERT_EQ(end.tasks.size(), 1U);
  EXPECT_GT(end.tasks[0].max_rss_bytes, 0);
  EXPECT_GE(end.tasks[0].cpu_us, 0);
  EXPECT_GT(end.started_unix_us, 0);
  EXPECT_GE(end.ended_unix_us, end.started_unix_us);
}

TEST_F(LocalRun, TellsExitCodeAndSignal) {
  const AttemptEnd failed = harness_.run(shell("1.1", "exit 7"));
  EXPECT_EQ(failed.kind, AttemptEndKind::kExited);
  EXPECT_FALSE(failed.success());
  EXPECT_EQ(failed.tasks.at(0).exit_code, 7);
  EXPECT_EQ(failed.tasks.at(0).signal, 0);
  const AttemptEnd killed = harness_.run(shell("1.2", "kill -SEGV $$"));
  EXPECT_EQ(killed.tasks.at(0).exit_code, -1);
  EXPECT_EQ(killed.tasks.at(0).signal, SIGSEGV);
}

TEST_F(LocalRun, SaysWhyAProgramCannotStart) {
  const std::string script = folder_.path() + "/no-first-line";
  std::ofstream(script) << "echo hello\n";
  const AttemptEnd missing = harness_.run(launch_of("1.1", {"no-such-program"}));
  EXPECT_EQ(missing.kind, AttemptEndKind::kNotStarted);
  EXPECT_NE(missing.why.find("no-such-program"), std::string::npos) << missing.why;
  EXPECT_NE(missing.why.find("No such file"), std::string::npos) << missing.why;
  EXPECT_FALSE(harness_.started.contains("1.1"));
  EXPECT_NE(harness_.run(launch_of("1.2", {script})).why.find("Permission denied"),
            std::string::npos);
  ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
  EXPECT_NE(harness_.run(launch_of("1.3", {script})).why.find("#!/bin/sh"), std::string::npos);
  AttemptLaunch nowhere = launch_of("1.4", {"/bin/true"});
  nowhere.directory = "/no/such/directory";
  EXPECT_NE(harness_.run(nowhere).why.find("/no/such/directory"), std::string::npos);
  EXPECT_EQ(harness_.run(launch_of("1.5", {"/tmp"})).kind, AttemptEndKind::kNotStarted);
  const AttemptEnd large = harness_.run(launch_of("1.6", {"/bin/true", std::string(1 << 20, 'x')}));
  EXPECT_EQ(large.kind, AttemptEndKind::kNotStarted);
  EXPECT_NE(large.why.find("larger than"), std::string::npos) << large.why;
}

TEST_F(LocalRun, RunsExactlyWhatIsWritten) {
  AttemptLaunch launch =
      launch_of("1.1", {"/usr/bin/printf", "%s|", "$HOME", "a b", "'\"`;&&", "\xff\xfe", "", "\n"});
  EXPECT_TRUE(harness_.run(launch).success());
  EXPECT_EQ(harness_.out("1.1"), "$HOME|a b|'\"`;&&|\xff\xfe||\n|");
  launch = launch_of("1.2", {"/usr/bin/env", "-0"});
  launch.environment = {{"A", "1 2"}, {"RANK", "instead"}, {"B", "\xff$(x)\n"}};
  EXPECT_TRUE(harness_.run(launch).success());
  const std::string progress = harness_.backend->folder("1.2") + "/0.progress";
  EXPECT_EQ(harness_.out("1.2"), "A=1 2" + std::string(1, '\0') + "RANK=0" + std::string(1, '\0') +
                                     "B=\xff$(x)\n" + std::string(1, '\0') +
                                     "CUDA_VISIBLE_DEVICES=" + std::string(1, '\0') +
                                     "BERTH_PROGRESS=" + progress + std::string(1, '\0'));
}

TEST_F(LocalRun, TakesAMebibyteOfEnvironment) {
  AttemptLaunch launch = launch_of("1.1", {"/usr/bin/env", "-0"});
  launch.log_limit_bytes = 8 << 20;
  for (int i = 0; i < 16; ++i) {
    launch.environment.emplace_back("V" + std::to_string(i), std::string(64 << 10, 'x'));
  }
  EXPECT_TRUE(harness_.run(launch).success());
  EXPECT_GT(harness_.out("1.1").size(), 1U << 20);
}

TEST_F(LocalRun, GivesAPlainProcess) {
  // Standard streams, no further descriptor, nothing blocked or ignored, a session of its own.
  const AttemptEnd end =
      harness_.run(shell("1.1",
                         "ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0; umask; "
                         "grep -E 'Sig(Blk|Ign)' /proc/self/status; "
                         "test \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ && echo leader"));
  EXPECT_TRUE(end.success());
  // 3 is the folder that ls reads.
  EXPECT_EQ(harness_.out("1.1"),
            "0 1 2 3 /dev/null\n0077\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
            "leader\n");
}

TEST_F(LocalRun, RunsAsItsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can run jobs of others";
  constexpr std::uint32_t kNobody = 65534;
  AttemptLaunch launch =
      shell("1.1", "id -u; id -g; id -G; echo '{\"iteration\": 1}' >> \"$BERTH_PROGRESS\"");
  launch.user = {.uid = kNobody, .gid = kNobody};
  EXPECT_TRUE(harness_.run(launch).success());
  EXPECT_EQ(harness_.out("1.1"), "65534\n65534\n65534\n");
  EXPECT_EQ(text_of(harness_.backend->folder("1.1") + "/0.progress"), "{\"iteration\": 1}\n");
  launch = launch_of("1.2", {"/bin/true"});
  launch.user = {.uid = kNobody, .gid = kNobody};
  launch.directory = "/root";
  struct stat info {};
  if (::stat("/root", &info) == 0 && (info.st_mode & 5U) == 0) {
    EXPECT_NE(harness_.run(launch).why.find("as user 65534: Permission denied"), std::string::npos);
  }
}

TEST_F(LocalRun, RefusesRootUnlessAllowed) {
  Folder other;
  LocalOptions options = local_options(other.path());
  options.allow_root = false;
  LocalHarness harness(options);
  AttemptLaunch launch = launch_of("1.1", {"/bin/true"});
  launch.user = {.uid = 0, .gid = 0};
  const auto status = harness.backend->start(launch);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text().find("--allow-root"), std::string::npos);
}

TEST_F(LocalRun, RefusesWhatCannotBeALaunch) {
  const auto refused = [&](const AttemptLaunch& launch) {
    return !harness_.backend->start(launch).has_value();
  };
  EXPECT_TRUE(refused(launch_of("../up", {"/bin/true"})));
  EXPECT_TRUE(refused(launch_of("", {"/bin/true"})));
  EXPECT_TRUE(refused(launch_of(".", {"/bin/true"})));
  EXPECT_TRUE(refused(launch_of("1.1", {})));
  EXPECT_TRUE(refused(launch_of("1.1", {"/bin/true"}, 0)));
  EXPECT_TRUE(refused(launch_of("1.1", {"/bin/echo", std::string("a\0b", 3)})));
  AttemptLaunch launch = launch_of("1.1", {"/bin/true"});
  launch.environment = {{"A=B", "1"}};
  EXPECT_TRUE(refused(launch));
  launch = launch_of("1.1", {"/bin/true"});
  launch.directory = "here";
  EXPECT_TRUE(refused(launch));
  launch = launch_of("1.1", {"/bin/true"});
  launch.tasks[0].devices = {DeviceId{12345U}};
  EXPECT_TRUE(refused(launch));
  // Nothing of it is remembered.
  EXPECT_TRUE(harness_.run(launch_of("1.1", {"/bin/true"})).success());
}

TEST_F(LocalRun, StartsAGangOfSixtyFour) {
  const AttemptEnd end = harness_.run(shell("1.1", "echo rank $RANK", 64));
  EXPECT_TRUE(end.success());
  ASSERT_EQ(end.tasks.size(), 64U);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(harness_.out("1.1", i), "rank " + std::to_string(i) + "\n");
  }
}

TEST_F(LocalRun, EndsAGangWhenOneFails) {
  const AttemptEnd end =
      harness_.run(shell("1.1", "if test $RANK = 2; then exit 3; fi; exec sleep 1000", 4));
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_EQ(end.tasks.at(2).exit_code, 3);
  for (const int i : {0, 1, 3}) EXPECT_EQ(end.tasks.at(i).signal, SIGTERM) << i;
}

TEST_F(LocalRun, StartsAllOfAGangOrNone) {
  AttemptLaunch launch = launch_of("1.1", {"touch", folder_.path() + "/ran"}, 8);
  launch.environment = {{"PATH", "/usr/bin:/bin"}};
  launch.tasks[5].environment.emplace_back("PATH", "/nowhere");
  const AttemptEnd end = harness_.run(launch);
  EXPECT_EQ(end.kind, AttemptEndKind::kNotStarted);
  EXPECT_NE(end.why.find("task 5"), std::string::npos) << end.why;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/ran"));
}

TEST_F(LocalRun, AsksToLeaveBeforeItKills) {
  AttemptLaunch launch = shell("1.1",
                               "trap 'echo saved; exit 0' USR1; echo ready; "
                               "while :; do sleep 0.05; done");
  launch.checkpoint_signal = SIGUSR1;
  launch.grace_us = 20 * kUsPerS;
  ASSERT_TRUE(harness_.runs(launch));
  ASSERT_TRUE(harness_.says("1.1", "0.out", "ready"));
  harness_.backend->stop("1.1", false);
  harness_.backend->stop("1.1", false);
  const AttemptEnd end = harness_.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kStopped);
  EXPECT_TRUE(end.success());
  EXPECT_EQ(harness_.out("1.1"), "ready\nsaved\n");
}

TEST_F(LocalRun, KillsWhatDoesNotLeave) {
  AttemptLaunch launch =
      shell("1.1", "trap '' USR1 TERM; echo ready; while :; do sleep 0.05; done");
  launch.checkpoint_signal = SIGUSR1;
  launch.grace_us = kUsPerS / 10;
  launch.term_grace_us = kUsPerS / 10;
  ASSERT_TRUE(harness_.runs(launch));
  ASSERT_TRUE(harness_.says("1.1", "0.out", "ready"));
  harness_.backend->stop("1.1", false);
  const AttemptEnd end = harness_.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kStopped);
  EXPECT_EQ(end.tasks.at(0).signal, SIGKILL);
}

TEST_F(LocalRun, KillsAtOnceIfTold) {
  AttemptLaunch launch = shell("1.1", "trap '' USR1 TERM; echo ready; exec sleep 1000");
  launch.checkpoint_signal = SIGUSR1;
  launch.grace_us = 1000 * kUsPerS;
  ASSERT_TRUE(harness_.runs(launch));
  ASSERT_TRUE(harness_.says("1.1", "0.out", "ready"));
  harness_.backend->stop("1.1", false);
  harness_.backend->stop("1.1", true);
  EXPECT_EQ(harness_.end_of("1.1").tasks.at(0).signal, SIGKILL);
}

TEST_F(LocalRun, StopsWhatHasNotBegun) {
  ASSERT_TRUE(harness_.backend->start(shell("1.1", "exec sleep 1000")));
  harness_.backend->stop("1.1", true);
  const AttemptEnd end = harness_.end_of("1.1");
  EXPECT_TRUE(end.kind == AttemptEndKind::kStopped || end.kind == AttemptEndKind::kNotStarted);
  harness_.backend->stop("1.1", true);  // of a key that has ended: nothing happens
  harness_.backend->stop("9.9", false);
}

// Processes whose environment names this folder.
std::size_t left_over(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& process : local::all_processes()) {
    const std::string environment = text_of("/proc/" + std::to_string(process.pid) + "/environ");
    if (environment.find("BERTH_PROGRESS=" + folder) != std::string::npos) ++count;
  }
  return count;
}

TEST_F(LocalRun, LeavesNoProcessBehind) {
  // One in the background, one in a session of its own whose parent is gone, one that is stopped.
  const AttemptEnd end =
      harness_.run(shell("1.1",
                         "sleep 1000 & (setsid sh -c 'sleep 1000 & exec sleep 1000' &) ; "
                         "sh -c 'kill -STOP $$' & sleep 0.2; echo done"));
  EXPECT_TRUE(end.success());
  EXPECT_EQ(harness_.out("1.1"), "done\n");
  EXPECT_EQ(left_over(folder_.path()), 0U);
}

TEST_F(LocalRun, EndsAForkBomb) {
  AttemptLaunch launch =
      shell("1.1",
            "ulimit -u 300 2>/dev/null; b() { b | b & }; "
            "i=0; while test $i -lt 60; do (sleep 1000 &) ; (setsid sleep 1000 &); "
            "i=$((i+1)); done; echo ready; exec sleep 1000");
  ASSERT_TRUE(harness_.runs(launch));
  ASSERT_TRUE(harness_.says("1.1", "0.out", "ready"));
  EXPECT_GT(left_over(folder_.path()), 100U);
  harness_.backend->stop("1.1", true);
  EXPECT_EQ(harness_.end_of("1.1").kind, AttemptEndKind::kStopped);
  EXPECT_EQ(left_over(folder_.path()), 0U);
}

TEST_F(LocalRun, GoesOnWithoutStandardOutput) {
  EXPECT_TRUE(harness_.run(shell("1.1", "exec >&- 2>&-; sleep 0.1; exit 0")).success());
}

TEST_F(LocalRun, KeepsTheEndOfALongLog) {
  constexpr std::int64_t kLimit = 64 << 10;
  AttemptLaunch launch = shell("1.1", "seq 1 200000; echo to-err >&2");
  launch.log_limit_bytes = kLimit;
  EXPECT_TRUE(harness_.run(launch).success());
  const std::string newer = harness_.out("1.1");
  const std::string older = text_of(harness_.backend->folder("1.1") + "/0.out.1");
  EXPECT_EQ(older.size(), static_cast<std::size_t>(kLimit / 2));
  EXPECT_LE(newer.size(), static_cast<std::size_t>(kLimit / 2));
  EXPECT_TRUE((older + newer).ends_with("\n199999\n200000\n"));
  EXPECT_EQ(text_of(harness_.backend->folder("1.1") + "/0.err"), "to-err\n");
}

TEST_F(LocalRun, SurvivesTheRemovalOfItsFolder) {
  AttemptLaunch launch = shell("1.1", "echo ready; read -r x < " + folder_.path() + "/go; exit 5");
  ASSERT_EQ(::mkfifo((folder_.path() + "/go").c_str(), 0666), 0);
  ASSERT_TRUE(harness_.runs(launch));
  ASSERT_TRUE(harness_.says("1.1", "0.out", "ready"));
  std::filesystem::remove_all(harness_.backend->folder("1.1"));
  std::ofstream(folder_.path() + "/go") << "x\n";
  const AttemptEnd end = harness_.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_EQ(end.tasks.at(0).exit_code, 5);
}

TEST_F(LocalRun, ForgetsButKeepsLogs) {
  EXPECT_TRUE(harness_.run(launch_of("1.1", {"/bin/true"})).success());
  EXPECT_TRUE(harness_.run(shell("1.2", "echo kept")).success());
  harness_.backend->forget("1.1");
  harness_.backend->forget("1.2");
  EXPECT_FALSE(std::filesystem::exists(harness_.backend->folder("1.1")));
  EXPECT_EQ(harness_.out("1.2"), "kept\n");
}

}  // namespace
}  // namespace berth::testing
