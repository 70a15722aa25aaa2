#include "report/priority.h"

#include <gtest/gtest.h>

#include "report/job_history.h"
#include "report/reason_text.h"
#include "support/training.h"
#include "support/workloads.h"

namespace berth {
namespace {

TEST(Priority, TheLargestDifferenceInFavourOfTheFirstDecides) {
  const std::vector<PriorityTerm> a{{"x", 3}, {"y", 1}, {"z", -2}};
  const std::vector<PriorityTerm> b{{"x", 2}, {"y", -1}, {"z", 0}};
  EXPECT_EQ(priority_sum(a), 2);
  EXPECT_EQ(priority_sum(b), 1);
  EXPECT_EQ(decisive_term(a, b), 1U);            // +1, +2, -2
  EXPECT_EQ(decisive_term(b, a), std::nullopt);  // its z is better, and does not decide
  EXPECT_EQ(decisive_term(a, a), std::nullopt);
}

// Terms by a table; jobs of a view by hand: 0 and 1 run, 2 and 3 wait, 4 has ended.
class TablePolicy final : public Policy {
 public:
  void decide(const ClusterView& /*view*/, const Predictors& /*predictors*/, Rng& /*rng*/,
              Plan& /*plan*/) override {}
  void drop_caches() override {}
  void priority_terms(const ClusterView& /*view*/, const Predictors& /*predictors*/, JobId job,
                      std::vector<PriorityTerm>& out) const override {
    const std::vector<std::vector<PriorityTerm>> table{
        {{"x", 5}}, {{"x", 1}, {"y", 1}}, {{"x", 0.5}}, {{"y", 4}}, {{"x", 9}}};
    out = table[job.index()];
  }
};

class PriorityOfView : public ::testing::Test {
 protected:
  PriorityOfView() {
    for (Job& job : jobs_) job.first_task = static_cast<std::uint32_t>(&job - jobs_.data());
    for (const std::size_t j : {0U, 1U}) {
      states_[j].status = JobStatus::kRunning;
      states_[j].tasks_placed = 1;
    }
    states_[4].status = JobStatus::kFinished;
    view_.now_us = 7;
    view_.cluster = &cluster_;
    view_.jobs = jobs_;
    view_.states = states_;
  }
  std::optional<PriorityExplanation> explain(std::uint32_t job) {
    return explain_priority(view_, plan_, policy_, **predictors_, JobId{job});
  }

  Cluster cluster_ = testing::cluster_of("1x2");
  std::vector<Job> jobs_{5};
  std::vector<JobState> states_{5};
  ClusterView view_;
  Plan plan_;
  TablePolicy policy_;
  Workload none_;
  Result<std::unique_ptr<Predictors>> predictors_ = make_predictors("none", none_, 1);
};

TEST_F(PriorityOfView, WhoWaitsIsComparedWithTheLastThatRuns) {
  const auto of = explain(2);
  ASSERT_TRUE(of);
  EXPECT_EQ(of->decided_us, 7);
  EXPECT_FALSE(of->runs);
  EXPECT_EQ(of->other, JobId{1U});  // 2 against 5 of job 0
  ASSERT_EQ(of->own.size(), 2U);    // it has no y: 0
  EXPECT_EQ(of->own[1].name, "y");
  EXPECT_EQ(of->own[1].value, 0);
  EXPECT_EQ(of->decisive, 1U);  // 1 against 0, more than 1 against 0.5
}

TEST_F(PriorityOfView, WhoRunsIsComparedWithTheFirstThatWaits) {
  const auto first = explain(0);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->runs);
  EXPECT_EQ(first->other, JobId{3U});  // 4 against 0.5 of job 2
  EXPECT_EQ(first->decisive, 0U);
  // Job 1 has 2 in all, less than the 4 of job 3: that it runs is not for its order.
  EXPECT_EQ(explain(1)->decisive, std::nullopt);
  EXPECT_EQ(explain(4), std::nullopt);  // ended
}

// Who runs is as planned.
TEST_F(PriorityOfView, ThePlanCounts) {
  plan_.actions = {{ActionKind::kPreemptJob, JobId{1U}}, {ActionKind::kStartTask, JobId{3U}}};
  EXPECT_EQ(explain(2)->other, JobId{3U});
  EXPECT_TRUE(explain(3)->runs);
  EXPECT_EQ(explain(3)->other, JobId{1U});  // 2 against 0.5 of job 2
  EXPECT_EQ(explain(3)->own[*explain(3)->decisive].name, "y");
  plan_.actions = {{ActionKind::kPreemptJob, JobId{0U}}, {ActionKind::kPreemptReplica, JobId{1U}}};
  EXPECT_FALSE(explain(2)->other.valid());  // nobody runs
  EXPECT_EQ(explain(2)->decisive, std::nullopt);
}

// On random jobs with failures: every span that waits or runs has its terms, and to ask for them
// changes nothing.
TEST(Priority, EverySpanHasItsTermsAndTheRunIsTheSame) {
  Rng rng(11);
  for (int i = 0; i < testing::cases(200); ++i) {
    const Cluster cluster = testing::random_training_cluster(rng);
    const Workload workload = testing::random_training(rng, cluster);
    const auto faults = testing::random_faults(rng, cluster);
    for (const char* const name : {"smith", "srtf"}) {
      const auto predictors = make_predictors("oracle", workload, 1);
      JobHistory plain(JobId{0U});
      JobHistory explained(JobId{static_cast<std::size_t>(rng.below(workload.jobs.size()))});
      std::string hash;
      for (JobHistory* const history : {&plain, &explained}) {
        const auto policy = testing::quick_policy(**find_policy(name));
        if (history == &explained) {
          history->explain_by(*policy, **predictors, rng.below(100) * kUsPerS);
        }
        SimulationOptions options;
        options.log = history;
        options.reasons = history;
        options.faults = faults;
        const auto result = simulate(cluster, workload, *policy, **predictors, options);
        ASSERT_TRUE(result);
        if (history == &plain) hash = result->event_hash;
        EXPECT_EQ(result->event_hash, hash);
      }
      for (const JobSpan& span : explained.spans()) {
        const bool never = reason_is_never(span.reason.code);
        if (span.state == JobSpan::State::kEnded || never || span.from_us == span.to_us) continue;
        EXPECT_NE(explained.priority_at_start(span), nullptr)
            << "case " << i << ", " << name << ", at " << span.from_us;
      }
    }
  }
}

}  // namespace
}  // namespace berth
