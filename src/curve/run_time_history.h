// How long a job will run, by those that had ended when it was submitted: what a scheduler on a
// real cluster can know, where nobody tells it. Durations of one user, queue or model are alike,
// and the more so the nearer in time; they spread over orders of magnitude, so everything is in
// logarithms.
//
// - The estimate for a job goes from the general to the particular: all jobs, those of as many
// GPUs,
//   of its model, of its virtual cluster, of its user, and of several of these together. Each step
//   takes the mean of its jobs, in which an older one weighs less, and shrinks it towards the step
//   before as if that were worth a few jobs. A step of which nothing is known changes nothing.
// - Jobs that declare how many iterations they have are estimated a second time, by time an
//   iteration. Of the two that one is believed which was nearer to the truth of late.
//
// A prediction is made when the job is submitted, and stays. Whoever sees the same jobs end has the
// same predictions, however often it looked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/maybe.h"
#include "model/view.h"

namespace berth {

class RunTimeHistory {
 public:
  // Chosen on days 15 to 60 of the Philly trace, all jobs started at once, by the error of what was
  // predicted. Tried: half-lives 5, 20, 50, 200, 1,000 and for ever, priors 1, 5 and 20; the
  // standard deviation of ln(true/predicted) is 1.91 with these, 1.91-2.05 with others. On the
  // `paper` workload (seeds 101, 102) half-lives 5 to 1,000 and priors 0.5 to 5 are all alike.
  struct Settings {
    double half_life_jobs = 20;  // jobs of a step after which one weighs half
    double prior_jobs = 5;       // that the step before counts as
  };

  RunTimeHistory() : RunTimeHistory(Settings{}) {}
  explicit RunTimeHistory(const Settings& settings);

  // Takes note of what happened. What ended at the instant of a submission, or later, says nothing
  // of that job. A view older than the last one begins a new history.
  void follow(const ClusterView& view);
  // Of a job of the last view. Nothing if no job had ended by its submission.
  [[nodiscard]] std::optional<TimeUs> run_time_us(JobId job) const;

 private:
  // User, virtual cluster, model, thousandths of a GPU; ~0: any.
  using Key = std::array<std::uint32_t, 4>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Mean {
    double weight = 0;
    double sum = 0;
  };

  // Decaying means of one quantity, step by step.
  class Steps {
   public:
    void add(std::span<const Key> keys, double value, double decay);
    [[nodiscard]] std::optional<float> estimate(std::span<const Key> keys, double prior) const;

   private:
    std::unordered_map<Key, Mean, KeyHash> means_;  // never walked through
  };

  // Natural logarithms of seconds.
  struct Guess {
    std::optional<float> by_time;
    std::optional<float> by_iterations;
    MaybeInt run_time_us;
    bool learned = false;
  };

  [[nodiscard]] static std::size_t keys_of(const Job& job, std::array<Key, 9>& keys);
  void clear();
  void note_ended(const ClusterView& view, JobId job);
  void learn(const ClusterView& view, JobId job);
  void predict(const Job& job, Guess& guess) const;

  double decay_;
  double prior_jobs_;
  Version seen_ = 0;
  Steps times_;
  Steps iteration_times_;
  // Squared errors of late, of jobs that had both estimates.
  Mean time_error_;
  Mean iterations_error_;
  std::vector<Guess> guesses_;  // by JobId
  std::vector<JobId> ended_;    // since the last submission, not learned yet
};

}  // namespace berth
