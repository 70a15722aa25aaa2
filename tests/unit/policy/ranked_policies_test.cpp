// Schedules worked out by hand, one for each rule of the policies that rank jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/schedules.h"

namespace berth {
namespace {

using testing::cluster_of;
using testing::schedule;
using testing::workload_of;
using Schedule = std::vector<std::string>;

// A (2 GPUs, 10 s) runs alone for a second; then B (6 s) and C (8 s, one GPU each) come. A has 18
// GPU-seconds left, more than either, but may not be stopped before 2 s: what it leaves free is
// nothing. At 2 s it has 16 left, and both go before it. C has 2 left at 8 s, when B ends; A needs
// both GPUs and waits for it.
TEST(Smith, LeastRemainingGpuTimeFirst) {
  const auto jobs = workload_of({{0, 10, 2}, {1, 6, 1}, {1, 8, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "smith", {{"round_s", "1"}, {"least_run_s", "2"}}),
            (Schedule{"0-2 10-18", "2-8", "2-10"}));
}

// What remains counts, not what was asked for: at 8 s A has 2 x 2 GPU-seconds left, fewer than
// B's 5.
TEST(Smith, AJobThatIsNearlyDoneIsLeftAlone) {
  const auto jobs = workload_of({{0, 10, 2}, {8, 5, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "smith", {{"round_s", "1"}, {"least_run_s", "2"}}),
            (Schedule{"0-10", "10-15"}));
}

// One GPU; jobs of 1 s come every second and always go before A (10 s), which waits from 0 s. Its
// patience ends at 4 s: it goes first then and is not stopped any more. (Job 1 is of the same
// instant, 1 s long, and runs first.)
TEST(Smith, PatienceHasALimitIfAsked) {
  const auto jobs = workload_of(
      {{0, 10, 1}, {0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 1, 1}, {5, 1, 1}, {6, 1, 1}});
  const std::string limit = fmt::format("{}", 4.0 / 3600);
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "smith",
                     {{"round_s", "1"}, {"least_run_s", "0"}, {"patience_h", limit}}),
            (Schedule{"4-14", "0-1", "1-2", "2-3", "3-4", "14-15", "15-16", "16-17"}));
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "smith", {{"round_s", "1"}, {"least_run_s", "0"}}),
            (Schedule{"7-17", "0-1", "1-2", "2-3", "3-4", "4-5", "5-6", "6-7"}));
}

// The first job teaches that jobs take 10 s. The second takes 100: at 30 s it has run for 19, and
// goes first where it is believed to be about to end; where it is believed to run on for 0.6 x 19 s
// the third, of 10 s, does.
TEST(Smith, AJobThatOutlivesItsPredictionRunsOn) {
  const auto jobs = workload_of({{0, 10, 1}, {11, 100, 1}, {30, 10, 1}});
  const auto run = [&](const char* outlived) {
    return schedule(cluster_of("1x1"), jobs, "smith",
                    {{"round_s", "1"}, {"least_run_s", "0"}, {"outlived", outlived}}, "history");
  };
  EXPECT_EQ(run("0"), (Schedule{"0-10", "11-111", "111-121"}));
  EXPECT_EQ(run("0.6"), (Schedule{"0-10", "11-30 40-121", "30-40"}));
}

const std::vector<PolicyOption> kQueuesOf4And100 = {
    {"round_s", "1"}, {"least_run_s", "0"}, {"threshold_gpu_s", "4"}, {"threshold2_gpu_s", "100"}};

// A has had 4 GPU-seconds at 4 s and falls into the second queue; B is in the first until its end.
TEST(Tiresias, AServedJobFallsBehind) {
  const auto jobs = workload_of({{0, 10, 1}, {2, 3, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "tiresias", kQueuesOf4And100),
            (Schedule{"0-4 7-13", "4-7"}));
}

// Two GPUs for 2 s are 4 GPU-seconds. In the second queue, at 6 s, A was first and stays first.
TEST(Tiresias, ServiceIsGpusTimesTimeAndQueuesAreFirstComeFirstServed) {
  const auto jobs = workload_of({{0, 10, 2}, {1, 6, 2}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "tiresias", kQueuesOf4And100),
            (Schedule{"0-2 4-12", "2-4 12-16"}));
}

// It knows no run times.
TEST(Tiresias, NeedsNoPredictions) {
  const auto jobs = workload_of({{0, 10, 1}, {2, 3, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "tiresias", kQueuesOf4And100, "none"),
            (Schedule{"0-4 7-13", "4-7"}));
}

// Twenty jobs of 1 s teach that whoever has had a second has nearly done. So A is left alone at 21
// s, when it has had 1 s, although B is new; at 22 s it has had more than anybody ever took, and B
// goes first.
TEST(TiresiasGittins, WhoHasOutlivedAllOthersGoesLast) {
  std::vector<testing::SimpleJob> list;
  for (int j = 0; j < 20; ++j) list.push_back({static_cast<double>(j), 1, 1});
  list.push_back({20, 10, 1});
  list.push_back({21, 1, 1});
  const auto runs = schedule(cluster_of("1x1"), workload_of(list), "tiresias-gittins",
                             {{"round_s", "1"}, {"least_run_s", "0"}});
  EXPECT_EQ(runs[19], "19-20");
  EXPECT_EQ(runs[20], "20-22 23-31");
  EXPECT_EQ(runs[21], "22-23");
}

// Both have had nothing at 0 s, A comes first. From 2 s on each goes before the other as soon as it
// has had less on average since it came, and ties go to A: turns of 2 s, the least run.
TEST(Fair, TakesTurns) {
  const auto jobs = workload_of({{0, 10, 1}, {0, 10, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "fair", {{"round_s", "1"}, {"least_run_s", "2"}}),
            (Schedule{"0-2 4-6 8-10 12-14 16-18", "2-4 6-8 10-12 14-16 18-20"}));
}

// Shares are of GPUs: A holds two, so B and C (one each) run twice as long as A. B and C: 0 GPUs at
// 2 s, so they go first; at 4 s each had 2/4, A 4/4. At 6 s A has had 4/6, they 4/6: ties go to A.
TEST(Fair, AWiderJobIsServedForAShorterTime) {
  const auto jobs = workload_of({{0, 4, 2}, {0, 8, 1}, {0, 8, 1}});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "fair", {{"round_s", "1"}, {"least_run_s", "2"}}),
            (Schedule{"0-2 6-8", "2-6 8-12", "2-6 8-12"}));
}

// Two jobs of 10 s and one GPU: T_id is 20 s for both. Leases of 4 s. rho at 4 s: A (4+6)/20, B
// (4+10)/20, so B is worst off. At 8 s both are (8+6)/20 and bid alike: A, by its number. At 12 s
// B is (12+6)/20, A (12+2)/20; at 16 s both are 18/20 again.
TEST(Themis, TheWorstOffGoesFirstAfterALease) {
  const auto jobs = workload_of({{0, 10, 1}, {0, 10, 1}});
  EXPECT_EQ(schedule(cluster_of("1x1"), jobs, "themis", {{"round_s", "1"}, {"least_run_s", "4"}}),
            (Schedule{"0-4 8-12 16-18", "4-8 12-16 18-20"}));
}

Workload of_users(const std::vector<testing::SimpleJob>& list,
                  const std::vector<std::uint32_t>& users) {
  Workload jobs = workload_of(list);
  for (std::size_t j = 0; j < users.size(); ++j) jobs.jobs[j].user = UserId{users[j]};
  return jobs;
}

// The first user holds half of the GPUs at 10 s, the second nothing: its job goes first although it
// came last.
TEST(Drf, TheUserWithTheSmallestShareIsNext) {
  const auto jobs = of_users({{0, 10, 1}, {0, 20, 1}, {0, 10, 1}, {1, 10, 1}}, {0, 0, 0, 1});
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "drf"), (Schedule{"0-10", "0-20", "20-30", "10-20"}));
}

// Of the first user's job the largest share is of cores, 6 of 8; the second user has 2 of 4 GPUs:
// the second goes on first.
TEST(Drf, TheLargestShareOfAnyResourceCounts) {
  Workload jobs =
      of_users({{0, 20, 1}, {0, 20, 2}, {0, 10, 1}, {1, 10, 1}, {1, 10, 1}}, {0, 1, 2, 0, 1});
  jobs.jobs[0].cpu_milli_per_task = 6'000;
  Cluster cluster;
  cluster.gpu_types.push_back({});
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = 8'000;
  cluster.add_server("s", GpuTypeId{0U}, 4, capacity);
  EXPECT_EQ(schedule(cluster, jobs, "drf"), (Schedule{"0-20", "0-20", "0-10", "20-30", "10-20"}));
}

// A job of two GPUs beside a stream that never leaves both free: kept for it once its patience
// ends.
TEST(Drf, ReservesIfAsked) {
  const auto jobs =
      workload_of({{0, 10, 1}, {1, 5, 2}, {5, 10, 1}, {10, 10, 1}, {15, 10, 1}, {20, 10, 1}});
  const std::string limit = fmt::format("{}", 12.0 / 3600);
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "drf", {{"patience_h", limit}}),
            (Schedule{"0-10", "20-25", "5-15", "10-20", "25-35", "25-35"}));
  EXPECT_EQ(schedule(cluster_of("1x2"), jobs, "drf"),
            (Schedule{"0-10", "30-35", "5-15", "10-20", "15-25", "20-30"}));
}

}  // namespace
}  // namespace berth
