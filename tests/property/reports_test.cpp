// What went wrong for users of other schedulers and simulators, by their public reports; the same
// kind of thing must not go wrong here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "support/workloads.h"
#include "trace/reader.h"

namespace berth {
namespace {

using testing::SimpleJob;

// Those that start at once what they can.
constexpr std::array kPolicies = {"fifo", "fifo-backfill", "sjf", "srtf"};

void expect_all_ran(const Workload& workload, const SimulationResult& result) {
  ASSERT_EQ(result.states.size(), workload.jobs.size());
  EXPECT_EQ(result.arrived, workload.jobs.size());
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    EXPECT_EQ(result.states[j].status, JobStatus::kFinished) << "job " << j;
    EXPECT_EQ(result.states[j].attained_us, workload.truths[j].work_us) << "job " << j;
  }
}

// How many tasks the starts of an event log put on each device.
std::map<std::string, int> tasks_by_device(const std::string& log) {
  std::map<std::string, int> tasks;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",start,") == std::string::npos) continue;
    std::istringstream devices(line.substr(line.rfind(',') + 1));
    for (std::string device; std::getline(devices, device, '+');) ++tasks[device];
  }
  return tasks;
}

// --- gavel#238: the simulator dies on a gap in a random trace -----------------------------------

// The first job comes late, days pass in which nothing runs, jobs come at one instant.
TEST(Reports, GapsLateFirstArrivalsAndAllAtOnce) {
  for (int i = 0; i < testing::cases(200); ++i) {
    const std::uint64_t seed = 23800 + static_cast<std::uint64_t>(i);
    Rng rng(seed);
    const Cluster cluster = testing::random_cluster(rng, false);
    const bool at_once = i % 4 == 0;
    double now_s = rng.chance(0.5) ? 0.0 : static_cast<double>(rng.uniform_int(1, 100'000'000));
    std::vector<SimpleJob> jobs;
    for (std::int64_t j = rng.uniform_int(1, 30); j > 0; --j) {
      jobs.push_back({.submit_s = now_s,
                      .run_s = static_cast<double>(rng.below(50)),
                      .gpus = static_cast<std::uint32_t>(1 + rng.below(cluster.gpus()))});
      if (at_once) continue;
      now_s += static_cast<double>(rng.chance(0.3) ? rng.below(100'000'000) : rng.below(20));
    }
    const Workload workload = testing::workload_of(jobs);
    for (const char* const policy : kPolicies) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << policy);
      expect_all_ran(workload, testing::run_policy(cluster, workload, policy).result);
    }
  }
}

Workload read(const std::vector<std::string>& rows, const Cluster& cluster) {
  std::string text = "arrival_s,gpus,duration_s\n";
  for (const std::string& row : rows) text += row;
  auto result = trace::read_trace_bytes(text, "berth");
  EXPECT_TRUE(result && result->report.rejected() == 0);
  trace::RejectReport report;
  auto workload = as_traced(std::move(result->trace), cluster, Sharing::kExclusive, report);
  EXPECT_TRUE(workload);
  return *std::move(workload);
}

// Rows in any order give the run of the sorted ones. Arrivals differ: jobs that come at one instant
// keep the order of their rows.
TEST(Reports, RowsInAnyOrder) {
  for (int i = 0; i < testing::cases(100); ++i) {
    const std::uint64_t seed = 23900 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Rng rng(seed);
    const Cluster cluster = testing::random_cluster(rng, false);
    std::vector<std::string> rows;
    std::int64_t now_s = 0;
    for (std::int64_t j = rng.uniform_int(2, 40); j > 0; --j) {
      rows.push_back(
          fmt::format("{},{},{}\n", now_s, 1 + rng.below(cluster.gpus()), 1 + rng.below(100)));
      now_s += rng.uniform_int(1, rng.chance(0.1) ? 100'000 : 20);
    }
    const Workload sorted = read(rows, cluster);
    rng.shuffle(std::span(rows));
    const Workload shuffled = read(rows, cluster);
    for (const char* const policy : kPolicies) {
      const auto run = testing::run_policy(cluster, shuffled, policy);
      expect_all_ran(shuffled, run.result);
      EXPECT_EQ(run.log, testing::run_policy(cluster, sorted, policy).log) << policy;
    }
  }
}

// --- open-simulator#34: the simulation never ends if something cannot be placed -----------------

TEST(Reports, WhatCannotBePlacedIsNamedAndTheRunEnds) {
  for (int i = 0; i < testing::cases(200); ++i) {
    const std::uint64_t seed = 3400 + static_cast<std::uint64_t>(i);
    Rng rng(seed);
    const Cluster cluster = testing::random_cluster(rng, true);
    Workload workload =
        testing::random_workload(rng, cluster, {.max_jobs = 20, .too_large = false});
    const std::size_t too_large = rng.below(workload.jobs.size());
    const std::size_t no_type = rng.below(workload.jobs.size());
    workload.jobs[too_large].tasks = static_cast<std::uint32_t>(cluster.gpus()) + 1;
    workload.jobs[too_large].gpu_milli_per_task = kWholeGpuMilli;
    workload.jobs[no_type].gpu_types = 0;
    workload.jobs[no_type].gpu_milli_per_task = kWholeGpuMilli;
    for (const char* const policy : kPolicies) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << policy);
      const auto result = testing::run_policy(cluster, workload, policy).result;
      for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
        const JobStatus status = result.states[j].status;
        if (j == no_type) {
          EXPECT_EQ(status, JobStatus::kPending);
          EXPECT_EQ(result.reasons[j].code, ReasonCode::kNeverGpuType);
        } else if (j == too_large) {
          EXPECT_EQ(status, JobStatus::kPending);
          EXPECT_EQ(result.reasons[j].code, ReasonCode::kNeverFits);
          EXPECT_EQ(result.reasons[j].asked, workload.jobs[j].gpu_milli());
          EXPECT_EQ(result.reasons[j].available,
                    static_cast<std::int64_t>(cluster.gpus()) * kWholeGpuMilli);
        } else {
          EXPECT_EQ(status, JobStatus::kFinished) << "job " << j;
        }
      }
      EXPECT_EQ(result.never_fit, too_large == no_type ? 1U : 2U);
    }
  }
}

// --- KAI-Scheduler#2153: 16 half-GPU jobs at once, up to 4 on one card, then a livelock ---------

// In a batch or one by one, alone or two in a gang, whatever their lengths: two a GPU.
TEST(Reports, SixteenHalvesTakeEightGpusInAnyOrder) {
  for (int i = 0; i < testing::cases(200); ++i) {
    const std::uint64_t seed = 215300 + static_cast<std::uint64_t>(i);
    Rng rng(seed);
    const bool batch = rng.chance(0.3);
    std::vector<SimpleJob> jobs;
    double now_s = 0;
    for (std::uint32_t halves = 16; halves > 0;) {
      const std::uint32_t gang = halves > 1 && rng.chance(0.3) ? 2 : 1;
      halves -= gang;
      // All of them still run when the last one comes.
      jobs.push_back({.submit_s = now_s,
                      .run_s = static_cast<double>(100 + rng.below(100)),
                      .gpus = gang,
                      .gpu_milli = 500});
      if (!batch) now_s += static_cast<double>(rng.below(4));
    }
    const std::size_t sixteen = jobs.size();
    jobs.push_back({.submit_s = now_s, .run_s = 1, .gpu_milli = 500});
    const Workload workload = testing::workload_of(jobs);
    const Cluster cluster = testing::cluster_of(rng.chance(0.5) ? "1x8" : "4x2");
    for (const char* const policy : {"fifo", "fifo-backfill"}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << policy);
      const auto run = testing::run_policy(cluster, workload, policy);
      expect_all_ran(workload, run.result);
      TimeUs first_end_us = kNever;
      for (std::size_t j = 0; j < sixteen; ++j) {
        EXPECT_EQ(run.result.states[j].first_start_us, workload.jobs[j].submit_us);
        first_end_us = std::min(first_end_us, run.result.states[j].last_stop_us);
      }
      EXPECT_EQ(run.result.states[sixteen].first_start_us, first_end_us);
      auto tasks = tasks_by_device(run.log.substr(0, run.log.find(",finish,")));
      EXPECT_EQ(tasks.size(), 8U);
      for (const auto& [device, count] : tasks) EXPECT_EQ(count, 2) << "device " << device;
    }
  }
}

// --- reasons: seen while the job waits -----------------------------------------------------------

// Passes rounds on to a policy, and remembers each job's last reason for waiting, with the head
// where it names one.
class Listener final : public Policy {
 public:
  explicit Listener(Policy& policy) : policy_(policy) {}
  void drop_caches() override { policy_.drop_caches(); }
  void decide(const ClusterView& view, const Predictors& predictors, Rng& rng,
              Plan& plan) override {
    policy_.decide(view, predictors, rng, plan);
    for (const HeadUpdate& update : plan.heads) heads_[update.slot] = update.job;
    for (const ReasonUpdate& update : plan.reasons) {
      const Reason& reason = update.reason;
      if (reason.code == ReasonCode::kNone) continue;
      reasons[update.job.value] = reason;
      if (reason.code == ReasonCode::kBehindHead) behind[update.job.value] = heads_[reason.subject];
    }
  }

  std::map<std::uint32_t, Reason> reasons;
  std::map<std::uint32_t, JobId> behind;

 private:
  Policy& policy_;
  std::map<std::uint32_t, JobId> heads_;  // by slot
};

struct Heard {
  SimulationResult result;
  std::map<std::uint32_t, Reason> reasons;  // by JobId: the last one while it waited
  std::map<std::uint32_t, JobId> behind;    // by JobId: the head that it waited for last
};

Heard run_and_listen(const Cluster& cluster, const Workload& workload, std::string_view name) {
  const auto policy = (*find_policy(name))->make({});
  Listener listener(**policy);
  const auto predictors = make_predictors("oracle", workload, 1);
  SimulationOptions options;
  options.check = true;
  auto result = simulate(cluster, workload, listener, **predictors, options);
  EXPECT_TRUE(result);
  return {*std::move(result), listener.reasons, listener.behind};
}

// --- ray#52133, #20933: fractions of GPUs hang over two nodes ------------------------------------

TEST(Reports, EightyFractionsAndTheOneThatWaits) {
  std::vector<SimpleJob> jobs;
  for (int j = 0; j < 81; ++j) {
    jobs.push_back({.submit_s = 0, .run_s = 100.0 + (j * 37) % 80, .gpus = 1, .gpu_milli = 180});
  }
  jobs.back().run_s = 200;  // last by length as well as by arrival
  const Workload workload = testing::workload_of(jobs);
  const Cluster cluster = testing::cluster_of("2x8");
  for (const char* const policy : kPolicies) {
    SCOPED_TRACE(policy);
    const auto run = testing::run_policy(cluster, workload, policy);
    const auto tasks = tasks_by_device(run.log.substr(0, run.log.find(",finish,")));
    EXPECT_EQ(tasks.size(), 16U);
    for (const auto& [device, count] : tasks) EXPECT_EQ(count, 5) << "device " << device;

    const Heard heard = run_and_listen(cluster, workload, policy);
    expect_all_ran(workload, heard.result);
    EXPECT_EQ(heard.result.states[80].first_start_us, 100 * kUsPerS);
    // A tenth of each device is free: 1.6 in all, but nowhere 0.18. For a policy that preempts,
    // what longer jobs hold is free as well: there are none.
    ASSERT_TRUE(heard.reasons.contains(80));
    const Reason& reason = heard.reasons.at(80);
    EXPECT_EQ(reason.asked, 180);
    if (std::string_view(policy) == "srtf") {
      EXPECT_EQ(reason.code, ReasonCode::kOrderedLater);
    } else {
      EXPECT_EQ(reason.code, ReasonCode::kFragmented);
      EXPECT_EQ(reason.available, 1600);
    }
  }
}

// --- kueue#8309: a head that waits for one GPU type blocks jobs for another ----------------------

TEST(Reports, AHeadThatWaitsForAnotherGpuTypeIsNamedOrPassed) {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  cluster.gpu_types.push_back({.name = "B"});
  cluster.add_server("a", GpuTypeId{0U}, 1);
  cluster.add_server("b", GpuTypeId{1U}, 1);
  const Workload workload = testing::workload_of({
      {.submit_s = 0, .run_s = 100, .types = 1},
      {.submit_s = 1, .run_s = 100, .types = 1},  // the head: waits for an A
      {.submit_s = 2, .run_s = 10, .types = 2},   // a B is free
  });
  const Heard strict = run_and_listen(cluster, workload, "fifo");
  EXPECT_EQ(strict.result.states[2].first_start_us, 100 * kUsPerS);
  ASSERT_TRUE(strict.reasons.contains(2));
  EXPECT_EQ(strict.reasons.at(2).code, ReasonCode::kBehindHead);
  EXPECT_EQ(strict.behind.at(2), JobId{1U});
  for (const char* const policy : {"fifo-backfill", "sjf", "srtf"}) {
    const Heard heard = run_and_listen(cluster, workload, policy);
    EXPECT_EQ(heard.result.states[2].first_start_us, 2 * kUsPerS) << policy;
    EXPECT_EQ(heard.result.states[1].first_start_us, 100 * kUsPerS) << policy;
  }
}

// --- batsim#66: after a host went down and up the same job ran four times longer -----------------

// Two equal jobs; the only server goes down and comes back at every possible second.
TEST(Reports, AServerDownAndUpLeavesTheNextJobsDurationAlone) {
  const Cluster cluster = testing::cluster_of("1x2");
  const Workload workload =
      testing::workload_of({{.submit_s = 0, .run_s = 10}, {.submit_s = 30, .run_s = 10}});
  for (const char* const policy : kPolicies) {
    for (TimeUs down_s = 1; down_s < 45; ++down_s) {
      for (const TimeUs long_s : {1, 3, 20}) {
        SCOPED_TRACE(fmt::format("{}, down at {} s for {} s", policy, down_s, long_s));
        const SimulationResult result =
            testing::run_policy(
                cluster, workload, policy,
                {.faults = {{.at_us = down_s * kUsPerS, .kind = FaultKind::kServerDown, .id = 0},
                            {.at_us = (down_s + long_s) * kUsPerS,
                             .kind = FaultKind::kServerUp,
                             .id = 0}}})
                .result;
        for (std::size_t j = 0; j < 2; ++j) {
          const JobState& state = result.states[j];
          ASSERT_EQ(state.status, JobStatus::kFinished);
          // Its last run is whole, and only what a failure took away was run again.
          EXPECT_EQ(state.last_stop_us - state.last_start_us, 10 * kUsPerS);
          if (state.evictions > 0) continue;
          EXPECT_EQ(state.attained_us, 10 * kUsPerS);
        }
      }
    }
  }
}

// --- volcano#5805: a gang stays below its minimum for ever after its node comes back -------------

TEST(Reports, AGangUnderWhichAServerFailsIsEvictedWholeAndRunsAgain) {
  const Cluster cluster = testing::cluster_of("2x2");
  // A gang over both servers; a rival comes while one of them is down.
  const Workload workload = testing::workload_of(
      {{.submit_s = 0, .run_s = 100, .gpus = 4}, {.submit_s = 12, .run_s = 20, .gpus = 2}});
  for (const char* const policy : kPolicies) {
    SCOPED_TRACE(policy);
    const SimulationResult result =
        testing::run_policy(
            cluster, workload, policy,
            {.faults = {{.at_us = 10 * kUsPerS, .kind = FaultKind::kServerDown, .id = 1},
                        {.at_us = 15 * kUsPerS, .kind = FaultKind::kServerUp, .id = 1}}})
            .result;
    EXPECT_EQ(result.states[0].evictions, 1U);
    for (const JobState& state : result.states) EXPECT_EQ(state.status, JobStatus::kFinished);
    const JobState& gang = result.states[0];
    EXPECT_EQ(gang.last_stop_us - gang.last_start_us, 100 * kUsPerS);
  }
}

// The run ends all the same if the server never comes back, and the gang has its reason.
TEST(Reports, AServerThatNeverComesBack) {
  const Cluster cluster = testing::cluster_of("2x2");
  const Workload workload = testing::workload_of(
      {{.submit_s = 0, .run_s = 100, .gpus = 4}, {.submit_s = 12, .run_s = 20, .gpus = 2}});
  for (const char* const policy : {"sjf", "srtf"}) {
    SCOPED_TRACE(policy);
    const SimulationResult result =
        testing::run_policy(
            cluster, workload, policy,
            {.faults = {{.at_us = 10 * kUsPerS, .kind = FaultKind::kServerDown, .id = 1}}})
            .result;
    EXPECT_EQ(result.states[0].status, JobStatus::kPending);
    EXPECT_NE(result.reasons[0].code, ReasonCode::kNone);
    EXPECT_EQ(result.states[1].status, JobStatus::kFinished);
  }
}

// --- KAI-Scheduler#416: 24 x 2,000 MiB accepted on 46,068 MiB ------------------------------------

TEST(Reports, GpuMemoryIsNeverOverCommitted) {
  Cluster cluster = testing::cluster_of("1x1");
  cluster.gpu_types[0].memory_mib = 46'068;
  std::vector<SimpleJob> jobs(24, {.submit_s = 0, .run_s = 100, .gpus = 1, .gpu_milli = 10});
  Workload workload = testing::workload_of(jobs);
  for (Job& job : workload.jobs) job.gpu_memory_mib_per_task = 2'000;
  for (const char* const policy : kPolicies) {
    SCOPED_TRACE(policy);
    const auto result = testing::run_policy(cluster, workload, policy).result;
    std::size_t at_once = 0;
    for (const JobState& state : result.states) at_once += state.first_start_us == 0 ? 1 : 0;
    EXPECT_EQ(at_once, 23U);
    EXPECT_EQ(result.states[23].first_start_us, 100 * kUsPerS);
  }
}

TEST(Reports, AJobThatNeedsMoreGpuMemoryThanAnyDeviceHasNeverFits) {
  Cluster cluster = testing::cluster_of("2x1");
  cluster.gpu_types[0].memory_mib = 16'000;
  Workload workload = testing::workload_of({{.run_s = 10}, {.run_s = 10}});
  workload.jobs[0].gpu_memory_mib_per_task = 16'001;
  for (const char* const policy : kPolicies) {
    SCOPED_TRACE(policy);
    const auto result = testing::run_policy(cluster, workload, policy).result;
    EXPECT_EQ(result.never_fit, 1U);
    EXPECT_EQ(result.states[1].status, JobStatus::kFinished);
  }
}

}  // namespace
}  // namespace berth
