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
