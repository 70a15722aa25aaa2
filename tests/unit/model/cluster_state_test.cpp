#include "model/cluster_state.h"

#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "support/placing.h"

namespace berth {
namespace {

using testing::preempt_job;
using testing::start_job;

Cluster two_servers() {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  cluster.gpu_types.push_back({.name = "B"});
  cluster.add_server("a", GpuTypeId{0U}, 2);
  cluster.add_server("b", GpuTypeId{1U}, 1);
  return cluster;
}

Job job_of(std::uint32_t tasks, std::uint32_t milli = 1000, GpuTypeMask types = kAnyGpuType) {
  Job job;
  job.tasks = tasks;
  job.gpu_milli_per_task = milli;
  job.gpu_types = types;
  return job;
}

Placement at(std::uint32_t server, std::uint32_t device) {
  return {ServerId{server}, DeviceId{device}};
}

TEST(ClusterState, AGangStartsWholeOrNotAtAll) {
  const Cluster cluster = two_servers();
  ClusterState state(cluster, {job_of(2), job_of(1)});
  const JobId first = state.arrive();
  const JobId second = state.arrive();
  EXPECT_EQ(start_job(state, second, std::array{at(0, 1)}, 5), "");
  const Version version = state.version();
  // The second task's device is taken: the first one's must stay free, and nothing is logged.
  EXPECT_NE(start_job(state, first, std::array{at(0, 0), at(0, 1)}, 6), "");
  EXPECT_EQ(state.view(6).devices[0].free_milli, 1000U);
  EXPECT_EQ(state.version(), version);
  EXPECT_EQ(start_job(state, first, std::array{at(0, 0), at(1, 2)}, 7), "");
  EXPECT_EQ(InvariantChecker(true).check(state.view(100)), "");
  EXPECT_EQ(state.running(), 2U);
}

TaskPlace place(std::uint32_t task, const Placement& to) {
  return {task, to};
}

// Two servers of type A, so that a task and its copy need not be on one.
TEST(ClusterState, ACopyHoldsWhatItsTaskHolds) {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  for (const char* name : {"a", "b", "c"}) cluster.add_server(name, GpuTypeId{0U}, 1);
  ClusterState state(cluster, {job_of(1, 600), job_of(1, 600)});
  const JobId job = state.arrive();
  const JobId other = state.arrive();
  ASSERT_EQ(start_job(state, job, std::array{at(0, 0)}, 5), "");
  const Version before = state.version();
  ASSERT_EQ(state.copy_task(job, place(0, at(1, 1)), 6), "");
  ASSERT_EQ(state.copy_task(job, place(0, at(2, 2)), 7), "");
  EXPECT_EQ(InvariantChecker(true).check(state.view(10)), "");
  EXPECT_EQ(state.view(10).devices[1].free_milli, 400U);
  EXPECT_EQ(state.copies_of(job).size(), 2U);
  EXPECT_TRUE(state.copies_of(other).empty());
  EXPECT_EQ(state.state(job).tasks_placed, 1U);
  EXPECT_EQ(state.view(10).changes_since(before)->size(), 4U);  // the job and a server, twice
  EXPECT_NE(start_job(state, other, std::array{at(1, 1)}, 10), "");
  EXPECT_DOUBLE_EQ(state.copies_held_gpu_us(10), 0.6 * (4 + 3));

  ASSERT_EQ(state.drop_copy(job, place(0, at(1, 1)), 11), "");
  EXPECT_NE(state.drop_copy(job, place(0, at(1, 1)), 11), "");
  ASSERT_EQ(start_job(state, other, std::array{at(1, 1)}, 12), "");
  // The other copy stays as the task, which is then no copy any more.
  ASSERT_EQ(state.take_over(job, place(0, at(2, 2)), 13), "");
  EXPECT_EQ(state.places_of(job)[0], at(2, 2));
  EXPECT_EQ(state.state(job).last_move_us, 13);
  EXPECT_EQ(state.view(13).devices[0].free_milli, 1000U);
  EXPECT_DOUBLE_EQ(state.copies_held_gpu_us(20), 0.6 * (5 + 6));
  EXPECT_EQ(InvariantChecker(true).check(state.view(20)), "");
}

TEST(ClusterState, CopiesGoWithTheirTaskTheirJobAndItsMoves) {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  for (const char* name : {"a", "b", "c"}) cluster.add_server(name, GpuTypeId{0U}, 2);
  ClusterState state(cluster, {job_of(2)});
  const JobId job = state.arrive();
  const auto copied = [&](TimeUs now_us) {
    EXPECT_EQ(start_job(state, job, std::array{at(0, 0), at(0, 1)}, now_us), "");
    EXPECT_EQ(state.copy_task(job, place(1, at(1, 2)), now_us), "");
    EXPECT_EQ(state.copy_task(job, place(0, at(1, 3)), now_us), "");
    EXPECT_EQ(state.copies_of(job)[0].task, 0U);
  };
  const auto all_free_but = [&](std::uint32_t tasks) {
    std::uint32_t held = 0;
    for (const DeviceState& device : state.view(100).devices) held += device.tasks;
    return held == tasks && InvariantChecker(true).check(state.view(100)).empty();
  };
  copied(1);
  ASSERT_EQ(preempt_job(state, job, 2), "");
  EXPECT_TRUE(state.copies().empty());
  EXPECT_TRUE(all_free_but(0));
  copied(3);
  const TaskPlace to = place(0, at(2, 4));
  ASSERT_EQ(state.move_tasks(job, std::span(&to, 1), 4), "");
  EXPECT_TRUE(state.copies().empty());
  EXPECT_TRUE(all_free_but(2));
  ASSERT_EQ(state.copy_task(job, place(0, at(1, 2)), 5), "");
  ASSERT_EQ(state.end_job(job, JobStatus::kFinished, 6), "");
  EXPECT_TRUE(all_free_but(0));
}

TEST(ClusterState, AtMostSoManyCopiesOfATask) {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  for (std::size_t s = 0; s < kMostTaskCopies + 2; ++s) cluster.add_server("", GpuTypeId{0U}, 1);
  ClusterState state(cluster, {job_of(1)});
  const JobId job = state.arrive();
  EXPECT_NE(state.copy_task(job, place(0, at(1, 1)), 0), "");  // does not run
  ASSERT_EQ(start_job(state, job, std::array{at(0, 0)}, 0), "");
  std::uint32_t s = 1;
  for (; s <= kMostTaskCopies; ++s) EXPECT_EQ(state.copy_task(job, place(0, at(s, s)), 0), "");
  EXPECT_EQ(state.copy_task(job, place(0, at(s, s)), 0), "too many copies of a task");
}

TEST(ClusterState, RefusesWhatCannotBe) {
  const Cluster cluster = two_servers();
  ClusterState state(cluster, {job_of(1), job_of(1, 1000, 0b10), job_of(1, 600), job_of(1, 600)});
  for (int j = 0; j < 4; ++j) state.arrive();
  EXPECT_NE(start_job(state, JobId{9U}, std::array{at(0, 0)}, 0), "");
  EXPECT_NE(start_job(state, JobId{0U}, std::array{at(0, 2)}, 0), "");            // other server's
  EXPECT_NE(start_job(state, JobId{0U}, std::array{at(0, 0), at(0, 1)}, 0), "");  // too many
  EXPECT_NE(start_job(state, JobId{1U}, std::array{at(0, 0)}, 0), "");            // wrong GPU type
  EXPECT_NE(preempt_job(state, JobId{0U}, 0), "");                                // does not run
  EXPECT_EQ(start_job(state, JobId{2U}, std::array{at(0, 0)}, 0), "");
  EXPECT_NE(start_job(state, JobId{3U}, std::array{at(0, 0)}, 0), "");  // 600 + 600
  EXPECT_NE(start_job(state, JobId{2U}, std::array{at(0, 1)}, 0), "");  // runs already
  state.set_server_up(ServerId{1U}, false);
  EXPECT_NE(start_job(state, JobId{1U}, std::array{at(1, 2)}, 0), "");  // server is down
  EXPECT_EQ(InvariantChecker(true).check(state.view(100)), "");
}

TEST(ClusterState, TimeRunIsKeptOverPreemptions) {
  const Cluster cluster = two_servers();
  ClusterState state(cluster, {job_of(1)});
  const JobId id = state.arrive();
  EXPECT_EQ(start_job(state, id, std::array{at(0, 0)}, 10), "");
  EXPECT_EQ(preempt_job(state, id, 25), "");
  EXPECT_EQ(state.state(id).attained_by(100), 15);
  EXPECT_EQ(state.reason(id).code, ReasonCode::kPreempted);
  EXPECT_EQ(start_job(state, id, std::array{at(0, 1)}, 50), "");
  EXPECT_EQ(state.state(id).attained_by(60), 25);
  EXPECT_EQ(state.end_job(id, JobStatus::kFinished, 70), "");
  EXPECT_EQ(state.state(id).attained_us, 35);
  EXPECT_EQ(state.state(id).first_start_us, 10);
  EXPECT_NE(state.end_job(id, JobStatus::kFinished, 71), "");
}

TEST(ClusterState, ChangesAreToldSinceAnyKeptVersion) {
  const Cluster cluster = two_servers();
  ClusterState state(cluster, std::vector<Job>(200'000, job_of(1)));
  const JobId id = state.arrive();
  const Version seen = state.version();
  EXPECT_EQ(start_job(state, id, std::array{at(1, 2)}, 0), "");
  const auto view = state.view(0);
  const auto changes = view.changes_since(seen);
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->size(), 2U);
  EXPECT_EQ((*changes)[0].kind, ChangeKind::kJobStarted);
  EXPECT_EQ((*changes)[1].kind, ChangeKind::kServerChanged);
  EXPECT_EQ((*changes)[1].id, 1U);
  for (int j = 1; j < 200'000; ++j) state.arrive();
  const auto later = state.view(0);
  EXPECT_FALSE(later.changes_since(seen));
  EXPECT_TRUE(later.changes_since(later.version - 1000));
  EXPECT_FALSE(later.changes_since(later.version + 1));
}

}  // namespace
}  // namespace berth
