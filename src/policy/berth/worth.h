// What it is worth to run a job, and what it takes.
//
// A job that still runs for a time t counts 1/t a second while it runs: the rate at which jobs end
// (the c-mu rule: Cox and Smith, Queues, 1961). Jobs go in the order of that over the GPUs that
// they take: Smith's ratio (Naval Research Logistics Quarterly 1956) in two dimensions.
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
};

struct Worth {
  double left_s = 0;  // that it still runs, with all its replicas and undisturbed
  double gpus = 0;    // that it keeps from others, by its tasks' dominant shares
  double weight = 1;  // what its deadline makes of it

  // Of the whole job while it runs, per second.
  [[nodiscard]] double value() const { return weight / left_s; }
  // More goes first.
  [[nodiscard]] double density() const { return value() / gpus; }
};

// Of a job that waits or runs: by what it has reported, else by the predicted run time, else by
// what it has run so far. `at_us`: the instant of which its deadline is looked at.
[[nodiscard]] Worth worth_of(const ClusterView& view, const Predictors& predictors, JobId id,
                             TimeUs at_us, const WorthSettings& settings);

// The weight of a job with so much left: 1 without a deadline, and once it is lost.
[[nodiscard]] double deadline_weight(const Job& job, double left_s, TimeUs at_us, double goal);

// The part of a device that a task keeps from others: of its time or of its memory, whichever is
// more (dominant share: Ghodsi et al., NSDI 2011).
[[nodiscard]] double dominant_share(const Cluster& cluster, const Job& job);

// The logarithms of the factors of density().
void terms_of(const Worth& worth, std::vector<PriorityTerm>& out);

}  // namespace berth
