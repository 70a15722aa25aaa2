// Which tasks leave an overloaded server, and for where.
#include "policy/common/overload.h"

#include <gtest/gtest.h>

#include <map>

#include "model/cluster_state.h"
#include "support/placing.h"

namespace berth {
namespace {

// What is measured of each job's tasks.
class Measured final : public Telemetry {
 public:
  std::map<std::uint32_t, TaskUse> uses;  // by JobId
  double per_s = 1.0;

  [[nodiscard]] std::optional<std::int64_t> iterations(JobId /*job*/) const override { return 0; }
  [[nodiscard]] std::optional<double> iterations_per_s(JobId /*job*/) const override {
    return per_s;
  }
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId /*job*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> loss(JobId /*job*/, std::int64_t /*i*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> accuracy(JobId /*job*/, std::int64_t /*i*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<TaskUse> use(JobId job, std::uint32_t /*task*/) const override {
    const auto found = uses.find(job.value);
    return found == uses.end() ? std::nullopt : std::optional(found->second);
  }
};

// Two servers of two GPUs and ten cores, links of 1,000 bytes a second. Jobs run since the instant
// 0 and have an hour left; later ones have a lower priority.
class OverloadReliefTest : public ::testing::Test {
 protected:
  struct Task {
    std::uint32_t device = 0;
    double gpu = 0;  // really used
    double cores = 0;
  };

  OverloadReliefTest() {
    cluster_.gpu_types.push_back({});
    ResourceVector capacity;
    capacity[Resource::kCpuMilli] = 10'000;
    capacity[Resource::kNetBytesPerS] = 1'000;
    cluster_.add_server("a", GpuTypeId{0U}, 2, capacity);
    cluster_.add_server("b", GpuTypeId{0U}, 2, capacity);
  }
  static Job small_job(std::uint32_t tasks = 1) {
    Job job;
    job.tasks = tasks;
    job.gpu_milli_per_task = 200;
    job.cpu_milli_per_task = 100;
    return job;
  }
  void arrange(const std::vector<Task>& tasks) {
    state_.emplace(cluster_, std::vector<Job>(tasks.size(), small_job()));
    for (std::size_t j = 0; j < tasks.size(); ++j) {
      state_->arrive();
      start(JobId{j}, {tasks[j].device}, tasks[j].gpu, tasks[j].cores);
    }
  }
  void start(JobId id, const std::vector<std::uint32_t>& devices, double gpu, double cores) {
    std::vector<Placement> places;
    for (const std::uint32_t d : devices) places.push_back({ServerId{d / 2}, DeviceId{d}});
    ASSERT_EQ(testing::start_job(*state_, id, places, 0), "");
    measured_.uses[id.value] = {.sm_ppm = static_cast<std::int32_t>(gpu * 1e6),
                                .cpu_milli = static_cast<std::int32_t>(cores * 1e3)};
  }
  // "job.task>device", in order.
  std::vector<std::string> moves(const ReliefRules& rules = {}, TimeUs now_us = kUsPerHour) {
    ClusterView view = state_->view(now_us);
    view.telemetry = &measured_;
    FreeIndex free;
    free.rebuild(view);
    IdSet running;
    running.grow(view.jobs.size());
    for (std::uint32_t j = 0; j < view.jobs.size(); ++j) running.insert(j);
    OverloadRelief relief(free, {}, rules);
    const OverloadRelief::AskStanding standing = [](JobId id, std::uint32_t) {
      return OverloadRelief::Standing{1.0 - 0.01 * id.value, kUsPerHour};
    };
    std::vector<std::string> out;
    for (const auto& [job, task, to] : relief.find(view, running, standing)) {
      out.push_back(std::to_string(job.value) + "." + std::to_string(task) + ">" +
                    std::to_string(to.device.value));
    }
    return out;
  }

  Cluster cluster_;
  std::optional<ClusterState> state_;
  Measured measured_;
};

using Moves = std::vector<std::string>;

// 0.7 + 0.6 on device 0: job 1 has the lower priority. b is the nearest, with no use.
TEST_F(OverloadReliefTest, TheLowestPriorityLeavesAnOverloadedDevice) {
  arrange({{0, 0.7}, {0, 0.6}});
  EXPECT_EQ(moves(), (Moves{"1.0>2"}));
  // Up to the whole of a device there is no slow-down.
  arrange({{0, 0.6}, {0, 0.4}});
  EXPECT_EQ(moves(), Moves{});
}

// Four are on the overloaded device. The lower half of them are jobs 3 and 4, and job 3 uses more;
// a tenth is one, job 4, and its device is still overloaded without it.
TEST_F(OverloadReliefTest, OfTheLowestShareTheOneThatUsesMost) {
  arrange({{0, 0.5}, {0, 0.4}, {1, 0.4}, {0, 0.35}, {0, 0.05}});
  EXPECT_EQ(moves({.share = 0.5}), (Moves{"3.0>2"}));
  EXPECT_EQ(moves({.share = 0.1}), (Moves{"4.0>2", "3.0>3"}));
}

// Cores of a: 12 of 10. Job 0 uses most of them, and most GPU; job 1 all but as many and the least
// GPU: nearest to the ideal.
TEST_F(OverloadReliefTest, MostOfWhatIsOverloadedLeastOfTheRest) {
  arrange({{0, 0.9, 5.0}, {1, 0.1, 4.8}, {1, 0.3, 2.2}});
  EXPECT_EQ(moves(), (Moves{"1.0>2"}));
}

// b has room for what job 1 declares, but not for what it uses.
TEST_F(OverloadReliefTest, NobodyIsMovedIntoOverload) {
  arrange({{0, 0.7}, {0, 0.6}, {1, 0.5}, {2, 0.5}, {3, 0.5}});
  EXPECT_EQ(moves(), Moves{});
}

TEST_F(OverloadReliefTest, AnotherDeviceOfItsServerWillDo) {
  arrange({{0, 0.7}, {0, 0.6}, {2, 0.5}, {3, 0.5}});
  EXPECT_EQ(moves(), (Moves{"1.0>1"}));
}

// For three minutes, twenty minutes after the start.
TEST_F(OverloadReliefTest, OverloadMustLastAndJobsMustBeSettled) {
  arrange({{0, 0.7}, {0, 0.6}});
  EXPECT_EQ(moves({}, 20 * kUsPerMin), (Moves{"1.0>2"}));
  EXPECT_EQ(moves({}, 20 * kUsPerMin - 1), Moves{});
  EXPECT_EQ(moves({.cooldown_us = 0}, 3 * kUsPerMin), (Moves{"1.0>2"}));
  EXPECT_EQ(moves({.cooldown_us = 0}, 3 * kUsPerMin - 1), Moves{});
  // A job that moved is new where it is; the other may leave once the overload has lasted.
  const TaskPlace back{0, {ServerId{0U}, DeviceId{0U}}};
  ASSERT_EQ(state_->move_tasks(JobId{1U}, std::span(&back, 1), kUsPerHour), "");
  EXPECT_EQ(moves({}, kUsPerHour + 3 * kUsPerMin - 1), Moves{});
  EXPECT_EQ(moves({}, kUsPerHour + 20 * kUsPerMin - 1), (Moves{"0.0>2"}));
  EXPECT_EQ(moves({}, kUsPerHour + 20 * kUsPerMin), (Moves{"1.0>2"}));
}

// Both take 1.3 times as long for the hour that each has left: 36 minutes are lost.
TEST_F(OverloadReliefTest, AMoveSavesMoreThanItCosts) {
  arrange({{0, 0.7}, {0, 0.6}});
  EXPECT_EQ(moves({.cost_us = 35 * kUsPerMin}), (Moves{"1.0>2"}));
  EXPECT_EQ(moves({.cost_us = 37 * kUsPerMin}), Moves{});
}

// The two tasks of job 1 exchange 500 bytes an iteration of a second, half of what a link carries:
// apart they take half as long again, 30 of the 36 minutes that the move would save.
TEST_F(OverloadReliefTest, TrafficThatCrossesALinkCosts) {
  TaskGraph graph;
  graph.tasks.resize(2, {.parameters = 1, .compute_us = 1, .exchange_bytes = 0});
  graph.edges = {{0, 1, 500}};
  Job pair = small_job(2);
  pair.graph = TaskGraphId{0U};
  state_.emplace(cluster_, std::vector<Job>{small_job(), pair}, std::vector<TaskGraph>{graph});
  state_->arrive();
  state_->arrive();
  start(JobId{0U}, {0}, 0.7, 0);
  start(JobId{1U}, {0, 1}, 0.6, 0);
  EXPECT_EQ(moves({.cost_us = 5 * kUsPerMin}), (Moves{"1.0>2"}));
  EXPECT_EQ(moves({.cost_us = 7 * kUsPerMin}), Moves{});
}

// Jobs without GPUs take 12 of 10 cores.
TEST_F(OverloadReliefTest, TasksWithoutAGpuStay) {
  Job job;
  job.gpu_milli_per_task = 0;
  state_.emplace(cluster_, std::vector<Job>{job, job});
  for (const std::uint32_t j : {0U, 1U}) {
    state_->arrive();
    const Placement at{ServerId{0U}, {}};
    ASSERT_EQ(testing::start_job(*state_, JobId{j}, std::span(&at, 1), 0), "");
    measured_.uses[j] = {.cpu_milli = 6'000};
  }
  EXPECT_EQ(moves(), Moves{});
}

// As published: above 0.9, at once, whatever it costs. Job 1 leaves for b; of three on device 0 two
// have to leave, and where b has no room for the second it waits.
TEST_F(OverloadReliefTest, AsPublished) {
  const ReliefRules published = ReliefRules::as_published(0.9, 0.1);
  arrange({{0, 0.5}, {0, 0.45}});
  EXPECT_EQ(moves(published, 1), (Moves{"1.0>2"}));
  EXPECT_EQ(moves({}, 1), Moves{});
  arrange({{0, 0.5}, {0, 0.45}, {0, 0.45}, {1, 0.5}, {2, 0.5}, {3, 0.45}});
  EXPECT_EQ(moves(published, 1), (Moves{"2.0>3", "1.0>" + std::to_string(DeviceId::kNone)}));
}

TEST_F(OverloadReliefTest, NothingWhereNobodyReports) {
  arrange({{0, 0.7}, {0, 0.6}});
  measured_.uses.clear();
  EXPECT_EQ(moves(), Moves{});
}

}  // namespace
}  // namespace berth
