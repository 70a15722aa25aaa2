#include "controller/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/random.h"
#include "controller/start_estimate.h"
#include "support/fake_backend.h"
#include "support/full_store.h"
#include "support/temp_folder.h"

namespace berth {
namespace {

using ::berth::testing::FakeBackend;

// A scheduler whose time the test moves, on a store in a folder of its own.
class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    options_.time = {.boottime_us = [this] { return boot_us_; },
                     .unix_us = [this] { return unix_us_; },
                     .boot_id = "boot"};
    options_.policy = "fifo";
  }
  ~ControllerTest() override {
    controller_.reset();
    store_.reset();
  }

  void open() {
    if (!store_) {
      auto store = Store::open(folder_.file("berth.db"));
      ASSERT_TRUE(store) << store.error().text();
      store_ = std::move(*store);
    }
    auto controller = Controller::open(options_, *store_, backend_);
    ASSERT_TRUE(controller) << controller.error().text();
    controller_ = std::move(*controller);
  }
  // As after kill -9: nothing is settled, nothing is told.
  void crash() {
    controller_.reset();
    store_.reset();
    backend_.crash();
  }
  void pass(TimeUs us) {
    boot_us_ += us;
    unix_us_ += us;
  }
  // Until nothing is left to do at once.
  void turn(int times = 4) {
    for (int i = 0; i < times; ++i) {
      pass(kUsPerS / 5);
      controller_->poll();
    }
  }
  static JobSpec job(std::string name = "job") {
    JobSpec spec;
    spec.name = std::move(name);
    spec.command = {"/bin/true"};
    spec.directory = "/";
    return spec;
  }
  JobNumber submit(const JobSpec& spec, std::string token = {}, bool held = false) {
    const Submission submission{.spec = spec,
                                .user = {1000, 1000},
                                .user_name = "ann",
                                .token = std::move(token),
                                .held = held};
    const auto numbers = controller_->submit(std::span(&submission, 1));
    EXPECT_TRUE(numbers) << (numbers ? "" : numbers.error().text());
    return numbers ? numbers->front() : 0;
  }
  JobRecord record(JobNumber number) {
    const auto found = controller_->record(number);
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : JobRecord{};
  }
  JobStatus status(JobNumber number) { return record(number).state.status; }

  berth::testing::TempFolder folder_;
  TimeUs boot_us_ = 1'000 * kUsPerS;
  TimeUs unix_us_ = 1'700'000'000 * kUsPerS;
  FakeBackend backend_{FakeBackend::machine(1)};
  ControllerOptions options_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(ControllerTest, RunsAJobToItsEnd) {
  open();
  const JobNumber number = submit(job());
  turn();
  ASSERT_TRUE(backend_.runs("1.1"));
  EXPECT_EQ(status(number), JobStatus::kRunning);
  const auto& launch = backend_.attempts.at("1.1").launch;
  EXPECT_EQ(launch.user, (Credentials{1000, 1000}));
  EXPECT_EQ(launch.command, std::vector<std::string>{"/bin/true"});
  ASSERT_EQ(launch.tasks.size(), 1U);
  EXPECT_EQ(launch.tasks[0].cpu_milli, 1000U);
  backend_.finish("1.1");
  turn();
  EXPECT_EQ(status(number), JobStatus::kFinished);
  EXPECT_TRUE(backend_.forgotten.contains("1.1"));
  EXPECT_EQ(controller_->jobs().size(), 0U);
}

TEST_F(ControllerTest, WritesTheIntentBeforeItActs) {
  open();
  backend_.on_call = [&](const std::string& call, const std::string& key) {
    const auto attempts = store_->attempts(1);
    ASSERT_TRUE(attempts);
    ASSERT_EQ(attempts->size(), 1U) << call << " " << key;
    EXPECT_EQ(attempts->front().phase,
              call == "start" ? AttemptPhase::kIntended : AttemptPhase::kStopping);
  };
  const JobNumber number = submit(job());
  turn();
  ASSERT_TRUE(controller_->cancel(number, false));
  turn();
  EXPECT_TRUE(backend_.attempts.at("1.1").told_to_stop);
  EXPECT_EQ(status(number), JobStatus::kPending);
  backend_.let_leave();
  turn();
  EXPECT_EQ(status(number), JobStatus::kStopped);
  EXPECT_EQ(record(number).message, "cancelled");
}

TEST_F(ControllerTest, TheNextWaitsUntilTheLastProcessHasLeft) {
  options_.policy = "srtf";
  open();
  const JobNumber slow = submit(job("slow"));
  turn();
  ASSERT_TRUE(controller_->hold(slow, HoldState::kByUser));
  const JobNumber next = submit(job("next"));
  turn();
  EXPECT_TRUE(backend_.attempts.at("1.1").told_to_stop);
  EXPECT_FALSE(backend_.runs("2.1"));
  EXPECT_TRUE(controller_->waits_for_room(*controller_->jobs().find(next)));
  backend_.let_leave();
  turn();
  EXPECT_TRUE(backend_.runs("2.1"));
  ASSERT_TRUE(controller_->release(slow));
  turn();
  EXPECT_FALSE(backend_.runs("1.2"));
  backend_.finish("2.1");
  turn();
  EXPECT_TRUE(backend_.runs("1.2"));
}

TEST_F(ControllerTest, MemoryIsNotPromisedTwice) {
  backend_.renew(FakeBackend::machine(4, 0, 8'000));
  open();
  JobSpec large = job();
  large.memory_mib = 5'000;
  submit(large);
  submit(large);
  submit(job());
  turn();
  EXPECT_TRUE(backend_.runs("1.1"));
  EXPECT_FALSE(backend_.runs("2.1"));
  large.memory_mib = 9'000;
  const Submission too_large{.spec = large, .user = {1000, 1000}};
  const auto refused = controller_->submit(std::span(&too_large, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "memory");
}

TEST_F(ControllerTest, AFailureIsTriedAgainAsOftenAsTheUserSays) {
  open();
  JobSpec spec = job();
  spec.restarts = 1;
  const JobNumber number = submit(spec);
  turn();
  backend_.finish("1.1", 3);
  controller_->poll();
  EXPECT_EQ(status(number), JobStatus::kPending);
  EXPECT_EQ(record(number).message, "exited with code 3");
  EXPECT_FALSE(backend_.runs("1.2"));
  pass(2 * kUsPerS);
  turn();
  ASSERT_TRUE(backend_.runs("1.2"));
  backend_.finish("1.2", 4);
  turn();
  EXPECT_EQ(status(number), JobStatus::kFailed);
  EXPECT_EQ(record(number).message, "exited with code 4");
  EXPECT_EQ(record(number).failures, 2U);
  ASSERT_TRUE(controller_->requeue(number));
  turn();
  EXPECT_TRUE(backend_.runs("1.3"));
}

TEST_F(ControllerTest, WhatWasLostIsRunAgainAndAtLastGivenUp) {
  options_.most_losses = 3;
  open();
  const JobNumber number = submit(job());
  for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
    pass(kUsPerHour);
    turn();
    const std::string key = attempt_key(number, attempt);
    ASSERT_TRUE(backend_.runs(key)) << key;
    backend_.end(key, {.kind = AttemptEndKind::kLost, .why = "its supervisor was killed"});
    controller_->poll();
  }
  EXPECT_EQ(status(number), JobStatus::kFailed);
  EXPECT_EQ(record(number).losses, 4U);
}

TEST_F(ControllerTest, ACommandThatIsNotThereFailsAtOnce) {
  open();
  const JobNumber number = submit(job());
  turn();
  backend_.end("1.1",
               {.kind = AttemptEndKind::kNotStarted, .own_fault = true, .why = "no such file"});
  turn();
  EXPECT_EQ(status(number), JobStatus::kFailed);
  EXPECT_EQ(record(number).message, "no such file");
}

// Once it had two ids, and one of them held the machine for ever.
TEST_F(ControllerTest, ACancelledHeldJobMayBeRequeued) {
  open();
  const JobNumber number = submit(job(), {}, true);
  ASSERT_TRUE(controller_->cancel(number, false));
  ASSERT_TRUE(controller_->requeue(number));
  EXPECT_FALSE(controller_->release(number));
  EXPECT_FALSE(controller_->requeue(number));
  turn();
  ASSERT_TRUE(backend_.runs("1.1"));
  backend_.finish("1.1");
  turn();
  const JobNumber next = submit(job());
  turn();
  EXPECT_TRUE(backend_.runs(attempt_key(next, 1)));
  EXPECT_EQ(controller_->state().running(), 1U);
}

TEST_F(ControllerTest, AnOperatorsHoldIsNotTheUsersToLift) {
  open();
  const JobNumber number = submit(job());
  ASSERT_TRUE(controller_->hold(number, HoldState::kByOperator));
  ASSERT_TRUE(controller_->hold(number, HoldState::kByUser));
  EXPECT_EQ(record(number).hold, HoldState::kByOperator);
  ASSERT_TRUE(controller_->cancel(number, false));
  ASSERT_TRUE(controller_->requeue(number));
  turn();
  EXPECT_FALSE(backend_.runs("1.1"));
  ASSERT_TRUE(controller_->release(number));
  turn();
  EXPECT_TRUE(backend_.runs("1.1"));
}

TEST_F(ControllerTest, ADeadlineThatHasPassedIsRefused) {
  open();
  JobSpec spec = job();
  spec.deadline_unix_us = unix_us_ - 1;
  const Submission late{.spec = spec, .user = {1000, 1000}};
  EXPECT_FALSE(controller_->submit(std::span(&late, 1)));
}

TEST_F(ControllerTest, TheTimeLimitCountsAllRunsTogether) {
  open();
  JobSpec spec = job();
  spec.time_limit_us = kUsPerMin;
  const JobNumber number = submit(spec);
  turn();
  pass(40 * kUsPerS);
  ASSERT_TRUE(controller_->requeue(number));
  turn();
  backend_.let_leave();
  turn();
  ASSERT_TRUE(backend_.runs("1.2"));
  EXPECT_FALSE(backend_.attempts.at("1.2").told_to_stop);
  pass(25 * kUsPerS);
  turn();
  EXPECT_TRUE(backend_.attempts.at("1.2").told_to_stop);
  backend_.let_leave();
  turn();
  EXPECT_EQ(status(number), JobStatus::kFailed);
}

TEST_F(ControllerTest, TheSameTokenIsTheSameJob) {
  open();
  const JobNumber first = submit(job(), "abc");
  EXPECT_EQ(submit(job(), "abc"), first);
  EXPECT_NE(submit(job(), "abd"), first);
  turn();
  backend_.finish(attempt_key(first, 1));
  turn();
  EXPECT_EQ(submit(job(), "abc"), first);
  turn();
  EXPECT_EQ(status(first), JobStatus::kFinished);
}

TEST_F(ControllerTest, AGpuThatOthersUseIsLeftAlone) {
  backend_.renew(FakeBackend::machine(4, 2));
  backend_.unusable = {0};
  open();
  JobSpec spec = job();
  spec.gpu_milli = 1000;
  submit(spec);
  submit(spec);
  turn();
  ASSERT_TRUE(backend_.runs("1.1"));
  EXPECT_FALSE(backend_.runs("2.1"));
  EXPECT_EQ(backend_.attempts.at("1.1").launch.tasks[0].devices,
            std::vector{DeviceId{std::uint32_t{1}}});
}

TEST_F(ControllerTest, RanksAreThoseOfTorchDistributed) {
  backend_.renew(FakeBackend::machine(4, 4));
  open();
  JobSpec spec = job();
  spec.gpu_milli = 2000;
  spec.replicas = 2;
  submit(spec);
  turn();
  ASSERT_TRUE(backend_.runs("1.1"));
  const auto& tasks = backend_.attempts.at("1.1").launch.tasks;
  ASSERT_EQ(tasks.size(), 2U);
  for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
    std::map<std::string, std::string> environment(tasks[rank].environment.begin(),
                                                   tasks[rank].environment.end());
    EXPECT_EQ(environment["RANK"], std::to_string(rank));
    EXPECT_EQ(environment["LOCAL_RANK"], std::to_string(rank));
    EXPECT_EQ(environment["WORLD_SIZE"], "2");
    EXPECT_EQ(environment["MASTER_ADDR"], "127.0.0.1");
    EXPECT_EQ(tasks[rank].devices.size(), 2U);
  }
}

// Its own width grows at once in the policy's eyes; its processes are begun again once, later.
TEST_F(ControllerTest, AJobThatHasJustBegunIsNotResized) {
  backend_.renew(FakeBackend::machine(4, 4));
  options_.policy = "berth";
  open();
  JobSpec blocker = job("blocker");
  blocker.gpu_milli = 3000;
  submit(blocker);
  turn();
  JobSpec elastic = job("elastic");
  elastic.gpu_milli = 1000;
  elastic.replicas = 4;
  elastic.elastic = true;
  const JobNumber number = submit(elastic);
  turn();
  ASSERT_TRUE(backend_.runs("2.1"));
  EXPECT_EQ(backend_.attempts.at("2.1").launch.tasks.size(), 1U);
  backend_.finish("1.1");
  turn();
  const LiveJob* live = controller_->jobs().find(number);
  ASSERT_TRUE(controller_->resizes_at_us(*live)) << "the policy lets it grow at once";
  EXPECT_FALSE(backend_.attempts.at("2.1").told_to_stop);
  // As long as it may not be moved, what another scheduler finds is the same.
  crash();
  open();
  turn();
  EXPECT_FALSE(backend_.attempts.at("2.1").told_to_stop);
  pass(options_.resize_after_us);
  turn();
  EXPECT_TRUE(backend_.attempts.at("2.1").told_to_stop);
  backend_.let_leave();
  turn();
  ASSERT_TRUE(backend_.runs("2.2"));
  EXPECT_EQ(backend_.attempts.at("2.2").launch.tasks.size(), 4U);
  // Who leaves altogether does not wait.
  ASSERT_TRUE(controller_->hold(number, HoldState::kByUser));
  turn();
  EXPECT_TRUE(backend_.attempts.at("2.2").told_to_stop);
}

TEST_F(ControllerTest, TheClockGoesOnWhateverTheWallClockDoes) {
  open();
  submit(job());
  turn();
  const TimeUs before_us = controller_->clock().now_us();
  unix_us_ -= 10 * kUsPerDay;
  turn();
  EXPECT_EQ(controller_->clock().now_us(), before_us + 4 * kUsPerS / 5);
  crash();
  unix_us_ += 400 * kUsPerDay;
  open();
  EXPECT_GE(controller_->clock().now_us(), before_us);
  EXPECT_LE(controller_->clock().now_us(), before_us + 2 * kUsPerS);
  turn();
  EXPECT_TRUE(backend_.runs("1.1"));
  EXPECT_TRUE(backend_.started_twice.empty());
}

TEST_F(ControllerTest, EstimatesWhenAJobStarts) {
  open();
  for (int i = 0; i < 12; ++i) {
    const JobNumber number = submit(job());
    turn();
    pass(kUsPerMin);
    backend_.finish(attempt_key(number, 1));
    turn();
  }
  submit(job("runs"));
  submit(job("next"));
  const JobNumber last = submit(job("last"));
  turn();
  const StartEstimate estimate = estimate_start(*controller_, last, kUsPerS);
  ASSERT_GT(estimate.draws, 10) << estimate.why_not;
  EXPECT_EQ(estimate.ahead, std::vector<JobNumber>{14});
  EXPECT_LE(estimate.low_us, estimate.median_us);
  EXPECT_LE(estimate.median_us, estimate.high_us);
  EXPECT_NEAR(seconds(estimate.median_us), 120, 20);
}

TEST_F(ControllerTest, OnAFullDiskNothingBeginsAndNothingIsForgotten) {
  auto inner = Store::open(folder_.file("berth.db"));
  ASSERT_TRUE(inner);
  auto full = std::make_unique<berth::testing::FullStore>(std::move(*inner));
  berth::testing::FullStore& disk = *full;
  store_ = std::move(full);
  open();
  const JobNumber runs = submit(job("runs"));
  turn();
  const JobNumber next = submit(job("next"));
  disk.full = true;
  const Submission refused{.spec = job(), .user = {1000, 1000}};
  const auto numbers = controller_->submit(std::span(&refused, 1));
  ASSERT_FALSE(numbers);
  EXPECT_EQ(numbers.error().kind, ErrorKind::kIo);
  backend_.finish("1.1");
  turn(20);
  EXPECT_FALSE(backend_.runs("2.1"));
  EXPECT_FALSE(backend_.forgotten.contains("1.1"));
  EXPECT_NE(controller_->trouble().find("no space left"), std::string::npos);
  disk.full = false;
  turn(10);
  EXPECT_TRUE(controller_->trouble().empty());
  EXPECT_TRUE(backend_.runs("2.1"));
  EXPECT_TRUE(backend_.forgotten.contains("1.1"));
  EXPECT_EQ(status(runs), JobStatus::kFinished);
  backend_.finish(attempt_key(next, 1));
  turn();
  EXPECT_EQ(controller_->jobs().size(), 0U);
}

// The policy's ids are given anew when much has ended; nothing else changes.
TEST_F(ControllerTest, RunsOnForeverInLittleMemory) {
  options_.history_jobs = 8;
  backend_.renew(FakeBackend::machine(4));
  open();
  std::size_t most = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<Submission> many(100, {.spec = job(), .user = {1000, 1000}});
    ASSERT_TRUE(controller_->submit(many));
    for (int i = 0; i < 40; ++i) {
      pass(kUsPerS);
      controller_->poll();
      for (const std::string& key : backend_.running()) backend_.finish(key);
      most = std::max(most, controller_->state().arrived());
    }
    backend_.attempts.clear();
  }
  EXPECT_EQ(controller_->jobs().size(), 0U);
  EXPECT_LT(most, 2'000U);
  EXPECT_EQ(store_->count_by_status()->at(2), 6'000);
}

// Random orders, ends and crashes, also in the midst of acting: no job is lost, none runs twice.
class Crash {};

TEST_F(ControllerTest, NothingIsLostOrRunTwiceWhateverCrashes) {
  const std::uint64_t seed = 20'261'130;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (const std::string policy : {"fifo", "srtf", "tiresias", "berth"}) {
    options_.policy = policy;
    backend_.renew(FakeBackend::machine(3));
    std::filesystem::remove_all(folder_.path());
    std::filesystem::create_directory(folder_.path());
    open();
    backend_.on_call = [&](const std::string&, const std::string&) {
      if (rng.chance(0.02)) throw Crash{};
    };
    std::vector<JobNumber> all;
    for (int step = 0; step < 400; ++step) {
      try {
        if (rng.chance(0.3) && all.size() < 60) {
          JobSpec spec = job();
          spec.cpu_milli = static_cast<std::uint32_t>(rng.uniform_int(300, 3'000));
          spec.restarts = 1;
          all.push_back(submit(spec));
        }
        const auto running = backend_.running();
        if (!running.empty() && rng.chance(0.3)) {
          const std::string& key = running[rng.below(running.size())];
          const auto fate = rng.below(10);
          if (fate == 0)
            backend_.end(key, {.kind = AttemptEndKind::kLost, .why = "killed"});
          else
            backend_.finish(key);
        }
        if (rng.chance(0.5)) backend_.let_leave();
        if (!all.empty() && rng.chance(0.05)) {
          const JobNumber number = all[rng.below(all.size())];
          switch (rng.below(4)) {
            case 0:
              (void)controller_->cancel(number, false);
              break;
            case 1:
              (void)controller_->hold(number, HoldState::kByUser);
              break;
            case 2:
              (void)controller_->release(number);
              break;
            default:
              (void)controller_->requeue(number);
          }
        }
        pass(static_cast<TimeUs>(rng.below(3 * kUsPerS)));
        controller_->poll();
        if (rng.chance(0.03)) throw Crash{};
      } catch (const Crash&) {
        crash();
        open();
      }
      // What the policy takes for active is what is: no job has two ids.
      std::size_t bound = 0;
      for (const auto& [number, live] : controller_->jobs()) bound += live.id.valid() ? 1 : 0;
      EXPECT_EQ(controller_->state().running() + controller_->state().pending(), bound);
      // At most one attempt of a job at any time.
      std::set<std::string> jobs;
      for (const std::string& key : backend_.running()) {
        EXPECT_TRUE(jobs.insert(key.substr(0, key.find('.'))).second) << key << " step " << step;
      }
    }
    backend_.on_call = nullptr;
    for (const JobNumber number : all) {
      if (record(number).hold != HoldState::kNone) (void)controller_->release(number);
    }
    for (int i = 0; i < 400 && controller_->jobs().size() > 0; ++i) {
      pass(10 * kUsPerS);
      controller_->poll();
      backend_.let_leave();
      for (const std::string& key : backend_.running()) backend_.finish(key);
    }
    EXPECT_EQ(controller_->jobs().size(), 0U);
    EXPECT_TRUE(backend_.started_twice.empty());
    for (const JobNumber number : all) EXPECT_TRUE(record(number).state.ended()) << number;
    EXPECT_EQ(controller_->decider().counts().refused, 0U)
        << controller_->decider().counts().last_refusal;
    crash();
  }
}

}  // namespace
}  // namespace berth
