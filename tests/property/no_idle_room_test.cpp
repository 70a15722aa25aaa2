// Policies that pass over what does not fit leave no room that a waiting job could use: checked on
// real places after every plan, with GPU types and shared devices.
#include <gtest/gtest.h>

#include <algorithm>

#include "policy/policy.h"
#include "support/workloads.h"

namespace berth {
namespace {

// How many tasks of the job go on devices with so much free.
std::int64_t tasks_that_fit(const Cluster& cluster, const Job& job,
                            const std::vector<std::int64_t>& free_milli) {
  std::int64_t tasks = 0;
  for (std::size_t d = 0; d < free_milli.size(); ++d) {
    if ((job.gpu_types >> cluster.devices[d].type.value & 1U) == 0) continue;
    tasks += free_milli[d] / job.gpu_milli_per_task;
  }
  return tasks;
}

// Passes rounds on to a policy, and looks at what its plans lead to.
class Watcher final : public Policy {
 public:
  Watcher(Policy& watched, bool preemptive) : watched_(watched), preemptive_(preemptive) {}
  void drop_caches() override { watched_.drop_caches(); }

  void decide(const ClusterView& view, const Predictors& predictors, Rng& rng,
              Plan& plan) override {
    watched_.decide(view, predictors, rng, plan);
    std::vector<std::vector<Placement>> places(view.jobs.size());
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      if (view.states[j].status != JobStatus::kRunning) continue;
      const auto at = view.placements_of(JobId{j});
      places[j].assign(at.begin(), at.end());
    }
    for (const Action& action : plan.actions) {
      if (action.kind == ActionKind::kPreemptJob) places[action.job.index()].clear();
      if (action.kind == ActionKind::kStartTask) places[action.job.index()].push_back(action.to);
    }
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      if (view.states[j].ended() || !places[j].empty()) continue;
      if (view.jobs[j].gpu_milli_per_task == 0) {
        ADD_FAILURE() << "a job without GPUs waits";
        continue;
      }
      look_at(view, predictors, places, JobId{j});
    }
  }

 private:
  // Whether a waiting job would fit into what is free, or is held by jobs that come after it.
  void look_at(const ClusterView& view, const Predictors& predictors,
               const std::vector<std::vector<Placement>>& places, JobId waiting) const {
    const auto order = [&](JobId id) {
      return std::pair(predictors.run_time_us(id).value() - view.state(id).attained_by(view.now_us),
                       id.value);
    };
    std::vector<std::int64_t> free_milli(view.devices.size(), kWholeGpuMilli);
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (preemptive_ && order(waiting) < order(JobId{j})) continue;
      for (const Placement& place : places[j]) {
        if (place.device.valid()) {
          free_milli[place.device.index()] -= view.jobs[j].gpu_milli_per_task;
        }
      }
    }
    EXPECT_LT(tasks_that_fit(*view.cluster, view.job(waiting), free_milli), view.job(waiting).tasks)
        << "job " << waiting.value << " waits at " << view.now_us;
  }

  Policy& watched_;
  bool preemptive_;
};

TEST(NoIdleRoom, SjfAndSrtf) {
  for (int i = 0; i < 150 && !::testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = 31000 + static_cast<std::uint64_t>(i);
    Rng rng(seed);
    const Cluster cluster = testing::random_cluster(rng, i % 3 != 0);
    const Workload workload =
        testing::random_workload(rng, cluster, {.types = i % 3 != 0, .shares = i % 2 == 0});
    for (const char* const name : {"sjf", "srtf"}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", policy " << name);
      const auto policy = (*find_policy(name))->make({});
      ASSERT_TRUE(policy);
      Watcher watcher(**policy, std::string_view(name) == "srtf");
      const auto predictors = make_predictors("oracle", workload, 1);
      SimulationOptions options;
      options.check = true;
      const auto result = simulate(cluster, workload, watcher, **predictors, options);
      ASSERT_TRUE(result) << result.error().text();
    }
  }
}

// A job that no place can be made for must not keep others from what is free.
TEST(NoIdleRoom, AWideJobOfOneTypeDoesNotBlockAnother) {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "A"});
  cluster.gpu_types.push_back({.name = "B"});
  cluster.add_server("a", GpuTypeId{0U}, 4);
  cluster.add_server("b", GpuTypeId{1U}, 1);
  const Workload workload = testing::workload_of({
      {.submit_s = 0, .run_s = 90, .gpus = 1, .types = 1},
      {.submit_s = 0, .run_s = 100, .gpus = 4, .types = 1},
      {.submit_s = 0, .run_s = 110, .gpus = 5, .types = 3},
      {.submit_s = 0, .run_s = 120, .gpus = 1, .types = 2},
  });
  const auto run = testing::run_policy(cluster, workload, "srtf");
  EXPECT_EQ(run.result.states[1].first_start_us, 90 * kUsPerS);
  EXPECT_EQ(run.result.states[3].first_start_us, 0);
  EXPECT_EQ(run.result.preemptions, 0U);
}

}  // namespace
}  // namespace berth
