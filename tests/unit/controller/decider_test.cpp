#include "controller/decider.h"

#include <gtest/gtest.h>

#include "support/placing.h"
#include "support/training.h"

namespace berth {
namespace {

class Silent final : public Telemetry {
 public:
  [[nodiscard]] std::optional<std::int64_t> iterations(JobId /*job*/) const override { return {}; }
  [[nodiscard]] std::optional<double> iterations_per_s(JobId /*job*/) const override { return {}; }
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId /*job*/) const override {
    return {};
  }
  [[nodiscard]] std::optional<double> loss(JobId /*job*/, std::int64_t /*at*/) const override {
    return {};
  }
  [[nodiscard]] std::optional<double> accuracy(JobId /*job*/, std::int64_t /*at*/) const override {
    return {};
  }
  [[nodiscard]] std::optional<TaskUse> use(JobId /*job*/, std::uint32_t /*task*/) const override {
    return {};
  }
};

// Nobody can say of a command what a second one at once would do.
TEST(Decider, RefusesToCopyATaskOfARealJob) {
  const Cluster cluster = testing::servers_of({1, 1}, 0);
  ClusterState state(cluster, {Job{}});
  const JobId job = state.arrive();
  const Placement here{ServerId{0U}, DeviceId{0U}};
  const Placement there{ServerId{1U}, DeviceId{1U}};
  ASSERT_EQ(testing::start_job(state, job, std::array{here}, 0), "");
  Decider decider(
      testing::scripted_policy(
          {{.at_us = 5, .actions = {{.kind = ActionKind::kCopyTask, .job = job, .to = there}}}}),
      1);
  EXPECT_TRUE(decider.decide(state, Silent(), 5).refused);
  EXPECT_EQ(decider.counts().last_refusal, "job 0: a job's command cannot run a task twice");
  EXPECT_TRUE(state.copies().empty());
  EXPECT_FALSE(Silent().device_speed(DeviceId{0U}));
}

}  // namespace
}  // namespace berth
