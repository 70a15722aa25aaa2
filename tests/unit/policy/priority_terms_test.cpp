// The terms that policies give of their priorities agree with the order in which they decide.
#include <gtest/gtest.h>

#include "base/int128.h"
#include "support/workloads.h"

namespace berth {
namespace {

// What a policy ranks by, worked out once more: smaller goes first.
using Rank = Int128 (*)(const ClusterView& view, const Workload& workload, JobId job);

TimeUs left_us(const ClusterView& view, const Workload& workload, JobId job, TimeUs at_us) {
  return workload.truths[job.index()].work_us - view.state(job).attained_by(at_us);
}
Int128 rank_of_smith(const ClusterView& view, const Workload& workload, JobId job) {
  const TimeUs round_us = view.now_us - view.now_us % kUsPerS;
  return static_cast<Int128>(std::max<TimeUs>(0, left_us(view, workload, job, round_us))) *
         view.job(job).gpu_milli();
}
Int128 rank_of_srtf(const ClusterView& view, const Workload& workload, JobId job) {
  return left_us(view, workload, job, view.now_us);
}

// At every decision, every two active jobs.
class OrderCheck final : public ReasonObserver {
 public:
  OrderCheck(const Policy& policy, const Predictors& predictors, const Workload& workload,
             Rank rank)
      : policy_(policy), predictors_(predictors), workload_(workload), rank_(rank) {}

  void reason_given(TimeUs /*at_us*/, JobId /*job*/, const Reason& /*reason*/) override {}
  void head_changed(TimeUs /*at_us*/, std::uint32_t /*slot*/, JobId /*job*/) override {}
  void decided(const ClusterView& view, const Plan& /*plan*/, TimeUs /*next_us*/) override {
    std::vector<std::pair<Int128, double>> jobs;
    std::vector<PriorityTerm> terms;
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      if (view.states[j].ended()) continue;
      terms.clear();
      policy_.priority_terms(view, predictors_, JobId{j}, terms);
      ASSERT_FALSE(terms.empty());
      double sum = 0;
      for (const PriorityTerm& term : terms) sum += term.value;
      jobs.emplace_back(rank_(view, workload_, JobId{j}), sum);
    }
    for (const auto& [rank, sum] : jobs) {
      for (const auto& [other_rank, other_sum] : jobs) {
        if (rank >= other_rank) continue;
        ++compared;
        EXPECT_GT(sum, other_sum - 1e-9) << "at " << view.now_us;
      }
    }
  }
  std::size_t compared = 0;

 private:
  const Policy& policy_;
  const Predictors& predictors_;
  const Workload& workload_;
  Rank rank_;
};

TEST(PriorityTerms, TheirOrderIsThatOfTheRanks) {
  Rng rng(3);
  std::size_t compared = 0;
  for (int i = 0; i < testing::cases(100); ++i) {
    const Cluster cluster = testing::random_cluster(rng, false);
    const Workload workload = testing::random_workload(rng, cluster, {.shares = true});
    const auto predictors = make_predictors("oracle", workload, 1);
    for (const auto& [name, rank] : {std::pair{"smith", &rank_of_smith}, {"srtf", &rank_of_srtf}}) {
      const bool rounds = std::string_view(name) == "smith";
      const std::vector<PolicyOption> second{{"round_s", "1"}};
      const auto policy = (*find_policy(name))->make(rounds ? second : std::vector<PolicyOption>{});
      ASSERT_TRUE(policy);
      OrderCheck check(**policy, **predictors, workload, rank);
      SimulationOptions options;
      options.reasons = &check;
      ASSERT_TRUE(simulate(cluster, workload, **policy, **predictors, options));
      compared += check.compared;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared, static_cast<std::size_t>(testing::cases(1000)));
}

}  // namespace
}  // namespace berth
