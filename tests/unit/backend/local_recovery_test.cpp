// What is lost when something is killed: never a job, never without a word, and nothing runs twice.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>

#include "backend/local/attempt_folder.h"
#include "backend/local/process.h"
#include "unit/backend/local_harness.h"

namespace berth::testing {
namespace {

bool lives(pid_t pid) {
  const auto stat = local::process_stat(pid);
  return stat && stat->state != 'Z';
}

bool wait_until(const std::function<bool()>& done) {
  constexpr int kTries = 1500;
  constexpr int kPauseMs = 20;
  for (int i = 0; i < kTries; ++i) {
    if (done()) return true;
    (void)::poll(nullptr, 0, kPauseMs);
  }
  return false;
}

// The processes of this name and parent: the launcher of a backend of this process.
pid_t child_of(pid_t parent) {
  for (const auto& process : local::all_processes()) {
    if (process.parent == parent && process.state != 'Z') return process.pid;
  }
  return -1;
}

class LocalRecovery : public ::testing::Test {
 protected:
  // A daemon in a process of its own that starts this and is then killed.
  void daemon_that_dies(const AttemptLaunch& launch) {
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      LocalHarness harness(local_options(folder_.path()));
      const bool runs = harness.runs(launch);
      std::ofstream(folder_.path() + "/daemon") << (runs ? "runs" : "does not run");
      for (;;) ::pause();
    }
    EXPECT_TRUE(wait_until([&] { return text_of(folder_.path() + "/daemon") == "runs"; }));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  Folder folder_;
};

TEST_F(LocalRecovery, WhatNeverBeganNeverWill) {
  LocalHarness first(local_options(folder_.path()));
  LocalHarness second(local_options(folder_.path()));
  second.backend->adopt("1.1", std::nullopt);
  EXPECT_EQ(second.end_of("1.1").kind, AttemptEndKind::kNotStarted);
  // A request that was on its way comes too late.
  const AttemptEnd end = first.run(launch_of("1.1", {"touch", folder_.path() + "/ran"}));
  EXPECT_EQ(end.kind, AttemptEndKind::kNotStarted);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/ran"));
  // Forgetting it does not allow it either.
  second.backend->forget("1.1");
  EXPECT_EQ(first.backend->folder("1.1"), second.backend->folder("1.1"));
  LocalHarness third(local_options(folder_.path()));
  EXPECT_EQ(third.run(launch_of("1.1", {"touch", folder_.path() + "/ran"})).kind,
            AttemptEndKind::kNotStarted);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/ran"));
}

TEST_F(LocalRecovery, AdoptsWhatRuns) {
  ASSERT_EQ(::mkfifo((folder_.path() + "/go").c_str(), 0666), 0);
  daemon_that_dies(shell("1.1", "read -r x < " + folder_.path() + "/go; exit 4"));
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  ASSERT_TRUE(harness.until([&] { return harness.started.contains("1.1"); }));
  EXPECT_FALSE(harness.ends.contains("1.1"));
  std::ofstream(folder_.path() + "/go") << "x\n";
  const AttemptEnd end = harness.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_EQ(end.tasks.at(0).exit_code, 4);
}

TEST_F(LocalRecovery, StopsWhatItAdopted) {
  daemon_that_dies(shell("1.1", "exec sleep 1000"));
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  harness.backend->stop("1.1", false);
  const AttemptEnd end = harness.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kStopped);
  EXPECT_EQ(end.tasks.at(0).signal, SIGTERM);
}

TEST_F(LocalRecovery, AdoptsWhatHasEnded) {
  daemon_that_dies(shell("1.1", "sleep 0.3; echo out; exit 6"));
  const std::string end_file = folder_.path() + "/attempts/1.1/end";
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(end_file); }));
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  EXPECT_EQ(harness.end_of("1.1").tasks.at(0).exit_code, 6);
}

TEST_F(LocalRecovery, LosesWhatLostItsSupervisorAndKillsTheRest) {
  LocalHarness harness(local_options(folder_.path()));
  // One in the background, one that went into a session of its own, one without environment.
  ASSERT_TRUE(harness.runs(shell("1.1",
                                 "sleep 1000 & echo $!; env -i sleep 1000 & echo $!; "
                                 "(setsid sh -c 'echo $$; exec sleep 1000' &); sleep 0.2; echo $$; "
                                 "echo ready; exec sleep 1000")));
  ASSERT_TRUE(harness.says("1.1", "0.out", "ready"));
  std::vector<pid_t> pids;
  std::istringstream lines(harness.out("1.1"));
  for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
  ASSERT_EQ(pids.size(), 4U);
  ::kill(harness.started["1.1"].pid, SIGKILL);
  const AttemptEnd end = harness.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kLost);
  EXPECT_NE(end.why.find("supervisor"), std::string::npos);
  for (const pid_t pid : pids) EXPECT_FALSE(lives(pid)) << pid;
}

TEST_F(LocalRecovery, LosesWhatLostItsSupervisorWhileNobodyWatched) {
  daemon_that_dies(shell("1.1", "sleep 1000 & exec sleep 1000"));
  const auto claim = local::parse_claim(text_of(folder_.path() + "/attempts/1.1/claim"));
  ASSERT_TRUE(claim && claim->supervisor);
  ASSERT_EQ(claim->tasks.size(), 1U);
  ::kill(claim->supervisor->pid, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !lives(claim->supervisor->pid); }));
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", claim->supervisor);
  EXPECT_EQ(harness.end_of("1.1").kind, AttemptEndKind::kLost);
  EXPECT_FALSE(lives(claim->tasks[0].pid));
}

TEST_F(LocalRecovery, GoesOnWithANewLauncher) {
  LocalHarness harness(local_options(folder_.path()));
  const pid_t launcher = child_of(::getpid());
  ASSERT_GT(launcher, 0);
  ASSERT_TRUE(harness.runs(shell("1.1", "exec sleep 1000")));
  ::kill(launcher, SIGKILL);
  // Asked of the one that is dead: it is settled, whether it began or not.
  ASSERT_TRUE(harness.backend->start(launch_of("1.2", {"/bin/true"})));
  (void)harness.end_of("1.2");
  EXPECT_TRUE(harness.run(launch_of("1.3", {"/bin/true"})).success());
  EXPECT_FALSE(harness.ends.contains("1.1"));
  harness.backend->stop("1.1", true);
  EXPECT_EQ(harness.end_of("1.1").kind, AttemptEndKind::kStopped);
}

TEST_F(LocalRecovery, TellsThatTheMachineWasRestarted) {
  const std::string folder = folder_.path() + "/attempts/1.1";
  std::filesystem::create_directories(folder);
  // This very process, in another life of the machine.
  ProcessId before = *local::identity_of(::getpid());
  before.boot_id = "another";
  std::ofstream(folder + "/claim")
      << local::claim_text(before) << local::claim_task_line({.task = 0, .pid = ::getpid()});
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  const AttemptEnd end = harness.end_of("1.1");
  EXPECT_EQ(end.kind, AttemptEndKind::kLost);
  EXPECT_NE(end.why.find("restarted"), std::string::npos);
}

TEST_F(LocalRecovery, TakesNoOtherProcessOfTheSameNumber) {
  const std::string folder = folder_.path() + "/attempts/1.1";
  std::filesystem::create_directories(folder);
  ProcessId other = *local::identity_of(::getpid());
  --other.start_ticks;
  std::ofstream(folder + "/claim")
      << local::claim_text(other) << local::claim_task_line({.task = 0, .pid = other.pid});
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  EXPECT_EQ(harness.end_of("1.1").kind, AttemptEndKind::kLost);  // and we live
}

TEST_F(LocalRecovery, ExplainsDamagedFiles) {
  const std::string folder = folder_.path() + "/attempts/1.";
  for (const char* name : {"1", "2"}) std::filesystem::create_directories(folder + name);
  std::ofstream(folder + "1/end") << "{\"kind\": \"exi";
  std::ofstream(folder + "2/claim") << "not a claim";
  LocalHarness harness(local_options(folder_.path()));
  harness.backend->adopt("1.1", std::nullopt);
  harness.backend->adopt("1.2", std::nullopt);
  EXPECT_EQ(harness.end_of("1.1").kind, AttemptEndKind::kLost);
  EXPECT_NE(harness.end_of("1.1").why.find("damaged"), std::string::npos);
  EXPECT_EQ(harness.end_of("1.2").kind, AttemptEndKind::kLost);
}

// A small file system of its own: full, or read-only.
class LocalSmallDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=2m,mode=0711") != 0) {
      GTEST_SKIP() << "only root can mount a small disk";
    }
    mounted_ = true;
    harness_ = std::make_unique<LocalHarness>(local_options(folder_.path()));
  }
  void TearDown() override {
    harness_.reset();
    if (mounted_) (void)::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  void fill() const {
    std::ofstream file(folder_.path() + "/ballast", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }

  Folder folder_;
  bool mounted_ = false;
  std::unique_ptr<LocalHarness> harness_;
};

TEST_F(LocalSmallDisk, StartsNothingOnAFullDiskAndGoesOnWhenThereIsSpace) {
  fill();
  const AttemptEnd end = harness_->run(launch_of("1.1", {"/bin/true"}));
  EXPECT_EQ(end.kind, AttemptEndKind::kNotStarted);
  EXPECT_NE(end.why.find("No space left"), std::string::npos) << end.why;
  std::filesystem::remove(folder_.path() + "/ballast");
  EXPECT_TRUE(harness_->run(launch_of("1.2", {"/bin/true"})).success());
}

TEST_F(LocalSmallDisk, NeitherHoldsUpAJobNorLosesItsEnd) {
  AttemptLaunch launch = shell("1.1", "seq 1 400000; sleep 0.1; exit 9");
  launch.log_limit_bytes = 64 << 20;
  const AttemptEnd end = harness_->run(launch);
  EXPECT_EQ(end.kind, AttemptEndKind::kExited);
  EXPECT_EQ(end.tasks.at(0).exit_code, 9);
  EXPECT_TRUE(harness_->out("1.1").starts_with("1\n2\n3\n"));
}

TEST_F(LocalSmallDisk, SaysInTheLogWhatIsMissing) {
  ASSERT_EQ(::mkfifo((folder_.path() + "/go").c_str(), 0666), 0);
  AttemptLaunch launch =
      shell("1.1", "seq 1 400000; echo full >&2; read -r x < " + folder_.path() + "/go; echo more");
  launch.log_limit_bytes = 64 << 20;
  ASSERT_TRUE(harness_->runs(launch));
  // Its other log has no room either: wait until it reads.
  std::ofstream go(folder_.path() + "/go");
  std::filesystem::resize_file(harness_->backend->folder("1.1") + "/0.out", 1000);
  go << "x\n";
  go.close();
  EXPECT_TRUE(harness_->end_of("1.1").success());
  const std::string log = harness_->out("1.1");
  EXPECT_NE(log.find("bytes of this log could not be written: No space left"), std::string::npos);
  EXPECT_TRUE(log.ends_with("more\n"));
}

TEST_F(LocalSmallDisk, ExplainsAReadOnlyDisk) {
  ASSERT_EQ(::mount(nullptr, folder_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const AttemptEnd end = harness_->run(launch_of("1.1", {"/bin/true"}));
  EXPECT_EQ(end.kind, AttemptEndKind::kNotStarted);
  EXPECT_NE(end.why.find("Read-only file system"), std::string::npos) << end.why;
  // To forbid it for ever something has to be written: nothing is said before that.
  harness_->backend->adopt("1.2", std::nullopt);
  harness_->poll(0);
  EXPECT_FALSE(harness_->ends.contains("1.2"));
  ASSERT_EQ(::mount(nullptr, folder_.path().c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  EXPECT_EQ(harness_->end_of("1.2").kind, AttemptEndKind::kNotStarted);
}

}  // namespace
}  // namespace berth::testing
