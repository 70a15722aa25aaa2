#include "curve/run_time_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace berth {
namespace {

// Jobs that come and end one after the other, and the views of it.
class History : public ::testing::Test {
 protected:
  JobId submit(double at_s, const Job& like = {}) {
    jobs_.push_back(like);
    jobs_.back().submit_us = std::llround(at_s * 1e6);
    states_.emplace_back();
    note(ChangeKind::kJobArrived, jobs_.size() - 1);
    return JobId{jobs_.size() - 1};
  }
  void end(JobId job, double at_s, double run_s, JobStatus status = JobStatus::kFinished) {
    JobState& state = states_[job.index()];
    state.status = status;
    state.last_stop_us = std::llround(at_s * 1e6);
    state.attained_us = std::llround(run_s * 1e6);
    note(ChangeKind::kJobEnded, job.index());
  }
  [[nodiscard]] ClusterView view() const {
    ClusterView view;
    view.version = changes_.size();
    view.jobs = jobs_;
    view.states = states_;
    view.recent_changes = changes_;
    return view;
  }
  [[nodiscard]] double predicted_s(JobId job) {
    history_.follow(view());
    const auto us = history_.run_time_us(job);
    return us ? seconds(*us) : -1;
  }

  static Job of(std::uint32_t gpus, std::uint32_t vc, MaybeInt iterations = {}) {
    Job job;
    job.tasks = gpus;
    job.vc = VcId{vc};
    job.max_iterations = iterations;
    return job;
  }

  RunTimeHistory history_{{.half_life_jobs = 1, .prior_jobs = 1}};
  std::vector<Job> jobs_;
  std::vector<JobState> states_;
  std::vector<Change> changes_;

 private:
  void note(ChangeKind kind, std::size_t job) {
    changes_.push_back({kind, static_cast<std::uint32_t>(job)});
  }
};

TEST_F(History, NothingIsKnownBeforeAJobHasEnded) {
  const JobId a = submit(0);
  EXPECT_EQ(predicted_s(a), -1);
  end(a, 100, 100);
  const JobId at_once = submit(100);  // at the same instant: not yet known
  const JobId b = submit(101);
  EXPECT_EQ(predicted_s(at_once), -1);
  EXPECT_NEAR(predicted_s(b), 100, 1e-3);
  EXPECT_EQ(predicted_s(a), -1);
}

// Half-life of one job: the older of two weighs 1/2. The logarithms of 100 and 800 s are 3
// doublings apart: (100 s weighs 1/2, 800 s weighs 1) is 100 s x 2^2. It stays so when a third job
// ends.
TEST_F(History, RecentJobsWeighMoreAndAPredictionStays) {
  end(submit(0), 100, 100);
  end(submit(0), 900, 800);
  const JobId job = submit(1000);
  EXPECT_NEAR(predicted_s(job), 400, 1e-2);
  end(submit(1000), 1010, 5);
  EXPECT_NEAR(predicted_s(job), 400, 1e-2);
}

// One job of 100 s in each step but the last, prior of one job. All: 100 s and then 1,600 s (4
// doublings apart), weights 1/2 and 1: 100 s x 2^(8/3). The same GPUs: the one of 1,600 s,
// shrunk half way: 2^((8/3 + 4) / 2) = 2^(10/3). Its virtual cluster knows no job.
TEST_F(History, StepsShrinkTowardsWhatIsMoreGeneral) {
  end(submit(0, of(1, 1)), 100, 100);
  end(submit(0, of(2, 2)), 1600, 1600);
  EXPECT_NEAR(predicted_s(submit(2000, of(2, 3))), 100 * std::exp2(10.0 / 3), 1e-2);
  // Of its virtual cluster: half way to 100 s (0 doublings) twice, alone and with its GPUs.
  EXPECT_NEAR(predicted_s(submit(2000, of(1, 1))), 100 * std::exp2(8.0 / 3 / 8), 1e-2);
}

// 0.1 s an iteration, whatever the number; by time, the second would be expected to take 100 s.
TEST_F(History, IterationsCountWhereTheyTellMore) {
  const auto job = [](std::int64_t iterations) { return of(1, 1, iterations); };
  end(submit(0, job(1000)), 100, 100);
  EXPECT_NEAR(predicted_s(submit(200, job(50'000))), 5000, 0.1);
  // Where every job takes 100 s in the end, iterations say nothing.
  for (int i = 0; i < 6; ++i) {
    const JobId next = submit(300 + 200 * i, job(i % 2 == 0 ? 50'000 : 10));
    history_.follow(view());
    end(next, 400 + 200 * i, 100);
  }
  EXPECT_NEAR(predicted_s(submit(5000, job(1))), 100, 1e-2);
}

TEST_F(History, FailuresSayNothing) {
  end(submit(0), 50, 7, JobStatus::kFailed);
  const JobId early = submit(60);
  EXPECT_EQ(predicted_s(early), -1);
  end(submit(60), 90, 30, JobStatus::kStopped);
  EXPECT_NEAR(predicted_s(submit(100)), 30, 1e-3);
}

// Who looks once at the end predicts the same as who has followed, and so does who begins anew.
TEST_F(History, IsTheSameHoweverOftenItLooks) {
  Rng rng(5);
  RunTimeHistory late;
  RunTimeHistory restarted;
  history_ = RunTimeHistory();
  std::vector<JobId> open;
  for (int i = 0; i < 400; ++i) {
    const double now_s = 10.0 * i;
    if (!open.empty() && rng.chance(0.5)) {
      const std::size_t which = rng.below(open.size());
      end(open[which], now_s, rng.log_normal(4, 2));
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      Job job = of(1 + static_cast<std::uint32_t>(rng.below(3)),
                   static_cast<std::uint32_t>(rng.below(3)));
      if (rng.chance(0.5)) job.user = UserId{static_cast<std::uint32_t>(rng.below(5))};
      if (rng.chance(0.5)) job.model = ModelId{static_cast<std::uint32_t>(rng.below(3))};
      if (rng.chance(0.5)) job.max_iterations = 1 + static_cast<std::int64_t>(rng.below(1000));
      open.push_back(submit(now_s, job));
    }
    if (rng.chance(0.6)) history_.follow(view());
  }
  history_.follow(view());
  ClusterView without_changes = view();
  without_changes.recent_changes = {};
  late.follow(without_changes);
  ClusterView later = view();
  later.version += 10;  // of another run, before this one
  restarted.follow(later);
  restarted.follow(view());
  std::size_t known = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    EXPECT_EQ(late.run_time_us(JobId{j}), history_.run_time_us(JobId{j}));
    EXPECT_EQ(restarted.run_time_us(JobId{j}), history_.run_time_us(JobId{j}));
    known += history_.run_time_us(JobId{j}) ? 1 : 0;
  }
  EXPECT_GT(known, 100U);
}

}  // namespace
}  // namespace berth
