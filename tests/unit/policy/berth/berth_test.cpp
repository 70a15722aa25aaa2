// Schedules of Berth's own policy worked out by hand.
#include "policy/berth/berth.h"

#include <gtest/gtest.h>

#include "support/elastic.h"
#include "support/schedules.h"

namespace berth {
namespace {

using testing::schedule;

// Nothing lost by stopping, no least run, predictions at their word.
const std::vector<PolicyOption> kPlain = {{"least_run_s", "0"},  {"restart_s", "0"},
                                          {"unsure", "1"},       {"own", "0.25"},
                                          {"least_left_s", "1"}, {"round_s", "1"}};

std::vector<PolicyOption> plain_and(std::string key, std::string value) {
  std::vector<PolicyOption> options = kPlain;
  std::erase_if(options, [&](const PolicyOption& option) { return option.key == key; });
  options.push_back({std::move(key), std::move(value)});
  return options;
}

// The second job has 10 s left when the first has 90, and goes first.
TEST(Berth, WhoHasLeastLeftGoesFirst) {
  const Workload jobs = testing::workload_of({{0, 100, 1}, {10, 10, 1}});
  EXPECT_EQ(schedule(testing::cluster_of("1x1"), jobs, "berth", kPlain),
            (std::vector<std::string>{"0-10 20-110", "10-20"}));
}

// Two jobs of a GPU with 30 s left, before one of two GPUs with 20. Each counts its GPUs times the
// jobs behind it, and half for itself: 2 + 1 + 1 together, against 1/2.
TEST(Berth, WhatRunsTogetherCountsTogether) {
  const Workload jobs = testing::workload_of({{0, 30, 1}, {0, 30, 1}, {0, 20, 2}});
  EXPECT_EQ(schedule(testing::cluster_of("1x2"), jobs, "berth", kPlain),
            (std::vector<std::string>{"0-30", "0-30", "30-50"}));
}

// The first job goes before the two others, on one of the four GPUs: 2 + 1. The second holds all
// four of them, and one waits for that work: 4 + 1. Then the first counts 1 + 1, the third 1.
TEST(Berth, GpusThatWorkForManyCountMoreThanTheDensestJob) {
  const Workload jobs = testing::workload_of({{0, 30, 1}, {0, 40, 4}, {0, 100, 4}});
  const auto runs = schedule(testing::cluster_of("1x4"), jobs, "berth", kPlain);
  EXPECT_EQ(runs[1], "0-40");
  EXPECT_EQ(runs[0], "40-70");
}

// With 12 s left against 10 the newcomer counts 1 + 1/4, the other 1/4. It gains 1 a second, for
// 20 s; stopping is taken to lose 1/4 for 70 s, 17.5, or for 90 s, 22.5.
TEST(Berth, StoppingMustPay) {
  const Workload jobs = testing::workload_of({{0, 22, 1}, {10, 10, 1}});
  for (const auto* restart_s : {"70", "90"}) {
    auto options = plain_and("restart_s", restart_s);
    options.push_back({"horizon_s", "20"});
    const std::string first = restart_s == std::string("70") ? "0-10 20-32" : "0-22";
    EXPECT_EQ(schedule(testing::cluster_of("1x1"), jobs, "berth", options)[0], first);
  }
}

TEST(Berth, WhoStartedStaysForItsLeastRun) {
  const Workload jobs = testing::workload_of({{0, 100, 1}, {10, 10, 1}});
  EXPECT_EQ(schedule(testing::cluster_of("1x1"), jobs, "berth", plain_and("least_run_s", "30")),
            (std::vector<std::string>{"0-30 40-110", "30-40"}));
}

// Two jobs of 12 and 10 s; the deadline of the first is at 13 s, so that it has little slack and
// goes first. At 11 s it could not be met any more, and the job of less time goes first.
TEST(Berth, ADeadlineCountsWhileItCanBeMet) {
  for (const TimeUs deadline_s : {13, 11}) {
    Workload jobs = testing::workload_of({{0, 12, 1}, {0, 10, 1}});
    jobs.jobs[0].deadline_us = deadline_s * kUsPerS;
    const auto runs = schedule(testing::cluster_of("1x1"), jobs, "berth", plain_and("goal", "1"));
    EXPECT_EQ(runs[0], deadline_s == 13 ? "0-12" : "10-22");
  }
}

// 50 s are predicted of neither: who has run for less goes first, so both get the same.
TEST(Berth, WithoutPredictionsWhoHasRunLeastGoesFirst) {
  const Workload jobs = testing::workload_of({{0, 5000, 1}, {1000, 50, 1}});
  EXPECT_EQ(schedule(testing::cluster_of("1x1"), jobs, "berth", kPlain, "none"),
            (std::vector<std::string>{"0-1000 1050-5050", "1000-1050"}));
}

// Three replicas beside a gang of two on four GPUs, by turns of what finds room. The first job has
// 40 replica-seconds: two GPUs for 10 s, then four for 5 s.
TEST(Berth, ReplicasFillWhatIsFree) {
  testing::ElasticJobs jobs;
  jobs.add(0, 4, 40);
  jobs.add(0, 2, 20);
  const auto run = testing::run_elastic(testing::servers_of({4}, 0), jobs.workload(), [] {
    auto policy = make_berth(kPlain);
    EXPECT_TRUE(policy);
    return *std::move(policy);
  });
  EXPECT_EQ(run.result.states[1].last_stop_us, 10 * kUsPerS);
  EXPECT_EQ(run.result.states[0].last_stop_us, 15 * kUsPerS);
  EXPECT_EQ(run.result.preemptions, 0U);
}

TEST(Berth, OptionsAreChecked) {
  const PolicyOption wrong[] = {{"unsure", "0"}};
  EXPECT_FALSE(make_berth(wrong));
  const PolicyOption unknown[] = {{"lookahead", "1"}};
  EXPECT_FALSE(make_berth(unknown));
}

}  // namespace
}  // namespace berth
