// What it is worth to run a job, and what it takes.
//
// A job with a time t left counts 1/t a second while it runs: the rate at which jobs end (the c-mu
// rule, Cox and Smith 1961). Its order is that over the GPUs that it takes, which is Smith's ratio
// in two dimensions: the least remaining GPU time first.
#pragma once

#include <vector>

#include "policy/policy.h"

namespace berth {

struct WorthSettings {
  double least_left_s = 60;  // less than that left counts as that
  double goal = 0;           // how much more a job counts whose deadline is near and can be met
  double age_h = 0;          // a job that has waited for so long counts twice; 0: never
};

struct Worth {
  double left_s = 0;  // that it still runs, with all its replicas and undisturbed
  double gpus = 0;    // devices that nobody else can use; a share of what is shared
  double weight = 1;  // what its goals and its wait make of it

  // Of the whole job while it runs, per second.
  [[nodiscard]] double value() const { return weight / left_s; }
  // More goes first.
  [[nodiscard]] double density() const { return weight / (left_s * gpus); }
};

// Of a job that waits or runs: by what it has reported, else by the predicted run time; without
// either it counts as a century. `at_us`: of which its wait and deadline are looked at.
[[nodiscard]] Worth worth_of(const ClusterView& view, const Predictors& predictors, JobId id,
                             TimeUs at_us, const WorthSettings& settings);

// The part of a device that a task keeps from others: of its time or of its memory, whichever is
// more (dominant share: Ghodsi et al., NSDI 2011).
[[nodiscard]] double dominant_share(const Cluster& cluster, const Job& job);

// The logarithms of the factors of density().
void terms_of(const Worth& worth, std::vector<PriorityTerm>& out);

}  // namespace berth
