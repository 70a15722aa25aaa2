#include "policy/lucid/lucid.h"

#include <gtest/gtest.h>

#include "model/cluster_state.h"
#include "policy/lucid/pairs.h"
#include "support/schedules.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

// Two GPUs. Job 0 holds both until 10 s. Then run time x GPUs is 8, 6 and 4: job 3 goes first; job
// 2 is next and does not fit; job 1 does. Nobody leaves before its end: job 2 starts when job 1
// ends, at 18 s.
TEST(Lucid, LeastRunTimeTimesGpusFirstAndNobodyLeaves) {
  const auto jobs = workload_of({{0, 10, 2}, {1, 8, 1}, {2, 3, 2}, {3, 4, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "lucid"),
            (Schedule{"0-10", "10-18", "18-21", "10-14"}));
}

// One GPU. Job 1 joins job 0 (shares 0.4 and 0.5). Job 2 would fit beside them (0.1), but two share
// and no more: it starts when job 0 ends, beside job 1, at 100 s.
TEST(Lucid, TwoShareADeviceAndNoMore) {
  const auto jobs = workload_of({{0, 100, 1, 400}, {1, 150, 1, 500}, {2, 150, 1, 100}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "lucid"), (Schedule{"0-100", "1-151", "100-250"}));
}

// Job 1 takes four times as long as job 0, which is more than three: it waits for job 0's end.
TEST(Lucid, ALongJobDoesNotJoinAShortOne) {
  const auto jobs = workload_of({{0, 100, 1, 400}, {1, 400, 1, 400}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "lucid"), (Schedule{"0-100", "100-500"}));
}

TEST(Lucid, TheScoreIsByHowBusyADeviceIs) {
  const PackingRules rules{.tiny_util = 0.4, .jumbo_util = 0.7};
  EXPECT_EQ(sharing_score(rules, 0.0), 0);
  EXPECT_EQ(sharing_score(rules, 0.4), 0);
  EXPECT_EQ(sharing_score(rules, 0.41), 1);
  EXPECT_EQ(sharing_score(rules, 0.7), 1);
  EXPECT_EQ(sharing_score(rules, 0.71), 2);
}

class PairPlacerTest : public ::testing::Test {
 protected:
  struct Known final : Predictors {
    [[nodiscard]] std::string_view name() const override { return "known"; }
    [[nodiscard]] std::optional<TimeUs> run_time_us(JobId /*job*/) const override { return 100; }
  };
  static Job job(std::uint32_t gpus, std::uint32_t milli, std::uint32_t mib = 0) {
    Job job;
    job.tasks = gpus;
    job.gpu_milli_per_task = milli;
    job.gpu_memory_mib_per_task = mib;
    return job;
  }
  // The devices that the second job is placed on beside the first, on two servers of two GPUs.
  std::vector<std::uint32_t> devices_beside(const Job& host, const Job& guest,
                                            const PackingRules& rules = {}) {
    Cluster cluster = testing::cluster_of("2x2");
    cluster.gpu_types[0].memory_mib = 16'000;
    ClusterState state(cluster, {host, guest});
    state.arrive();
    state.arrive();
    FreeIndex free;
    free.rebuild(state.view(0));
    PairPlacer placer(free, rules);
    const Known known;
    const ClusterView view = state.view(0);
    placer.begin(view, known);
    std::vector<Placement> places;
    EXPECT_TRUE(placer.take(JobId{0U}, host, places));
    EXPECT_TRUE(placer.take(JobId{1U}, guest, places));
    std::vector<std::uint32_t> out;
    for (const Placement& place : places) out.push_back(place.device.value);
    return out;
  }
};

TEST_F(PairPlacerTest, APartnerIsSoughtBeforeEmptyDevices) {
  EXPECT_EQ(devices_beside(job(2, 400), job(2, 600)), (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(PairPlacerTest, OnlyBesideAsManyGpus) {
  EXPECT_EQ(devices_beside(job(2, 400), job(1, 400)), (std::vector<std::uint32_t>{2}));
}

TEST_F(PairPlacerTest, ScoresMayNotComeToMoreThanTwo) {
  const PackingRules rules{.tiny_util = 0.2, .jumbo_util = 0.3};
  EXPECT_EQ(devices_beside(job(1, 400), job(1, 400), rules), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(devices_beside(job(1, 400), job(1, 200), rules), (std::vector<std::uint32_t>{0}));
}

TEST_F(PairPlacerTest, SharesAndMemoryMustFit) {
  EXPECT_EQ(devices_beside(job(1, 400), job(1, 601)), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(devices_beside(job(1, 400, 9'000), job(1, 400, 8'000)),
            (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(devices_beside(job(1, 400, 8'000), job(1, 400, 8'000)),
            (std::vector<std::uint32_t>{0}));
}

TEST_F(PairPlacerTest, WideJobsMayBeLeftOut) {
  const PackingRules rules{.most_gpus = 1};
  EXPECT_EQ(devices_beside(job(2, 400), job(2, 400), rules), (std::vector<std::uint32_t>{2, 3}));
}

TEST(Lucid, OptionsAreChecked) {
  const PolicyOption known[] = {{"most_ratio", "2"}};
  EXPECT_TRUE(make_lucid(known));
  const PolicyOption unknown[] = {{"round_s", "2"}};
  EXPECT_FALSE(make_lucid(unknown));
}

}  // namespace
}  // namespace berth
