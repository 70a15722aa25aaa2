// The order of jobs: by what they still bring, over what they take.
//
// A job that still runs for a time t counts 1/t a second while it runs: the rate at which jobs end
// (the c-mu rule: Cox and Smith, Queues, 1961). Jobs go in the order of that over the GPUs that
// they take: Smith's ratio (Naval Research Logistics Quarterly 1956) in two dimensions. The
// accuracy that a job must have by its deadline counts as another end, when it is time for it.
#pragma once

#include <vector>

#include "policy/policy.h"

namespace berth {

struct WorthSettings {
  double least_left_s = 60;  // less than that left counts as that
  // Of a job that reports its progress and has not run yet its predicted run time counts for this
  // part: a short try shows its speed, and who turns out to be long is preempted.
  double unsure = 0.8;
  // Of a job that has outlived its prediction: what is left, as a part of the time it has run.
  double outlived = 0.5;
  // A deadline that can still be met makes a job count up to 1 + this times as much, the more the
  // less slack there is. One that is lost counts for nothing (feasible laxity).
  double goal = 0.3;
  // A job that can still have its accuracy in time, if it runs for r from now on or from a time x
  // later, counts so many ends more, 1/r a second each, times 1 / (1 + (x/accuracy_slack_s)^2).
  double accuracy = 1;
  double accuracy_slack_s = 900;
};

struct Worth {
  double left_s = 0;          // that it still runs, with all its replicas and undisturbed
  double gpus = 0;            // that it keeps from others, by its tasks' dominant shares
  double weight = 1;          // what its deadline makes of it
  double accuracy_s = 0;      // that it still runs until it has its accuracy; 0: it needs none
  double accuracy_per_s = 0;  // what that counts for now

  // Ends of the whole job while it runs, per second.
  [[nodiscard]] double ends_per_s() const { return weight / left_s + accuracy_per_s; }
  // More goes first.
  [[nodiscard]] double density() const { return ends_per_s() / gpus; }
};

// Of a job that waits or runs: by what it has reported, else by the predicted run time, else by
// what it has run so far. `to_accuracy`: as part_left() of accuracy_goal.h says, or 0.
[[nodiscard]] Worth worth_of(const ClusterView& view, const Predictors& predictors, JobId id,
                             double to_accuracy, const WorthSettings& settings);
// What follows from its deadline, as of an instant.
void heed_deadline(Worth& worth, const Job& job, TimeUs at_us, const WorthSettings& settings);
// Whether its deadline makes a difference, so that its worth changes with time.
[[nodiscard]] inline bool changes_with_time(const Worth& worth, const Job& job, TimeUs at_us) {
  return worth.weight > 1.0 || (worth.accuracy_s > 0 && at_us < job.deadline_us.value());
}

// The part of a device that a task keeps from others: of its time or of its memory, whichever is
// more (dominant share: Ghodsi et al., NSDI 2011).
[[nodiscard]] double dominant_share(const Cluster& cluster, const Job& job);

// The logarithms of the factors of density().
void terms_of(const Worth& worth, std::vector<PriorityTerm>& out);

}  // namespace berth
