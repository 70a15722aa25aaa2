// Why a job waits or runs, in the terms of its policy: what it has against the job next to it in
// the policy's order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/plan.h"
#include "model/view.h"
#include "policy/policy.h"

namespace berth {

struct PriorityExplanation {
  TimeUs decided_us = 0;  // of the decision; the terms are as it saw them
  bool runs = false;      // the job, as decided
  std::vector<PriorityTerm> own;
  // The one of least priority of those that run, if the job waits; the one of highest priority of
  // those that wait, if it runs. Invalid: there is none.
  JobId other;
  std::vector<PriorityTerm> others;  // the same names in the same order as `own`
  // Index of the term that decided; nothing if the order did not, as where a job that goes first
  // finds no room.
  std::optional<std::size_t> decisive;
};

[[nodiscard]] double priority_sum(std::span<const PriorityTerm> terms);

// Of two jobs with the same names: the term with the largest difference in favour of the first.
// Nothing if the sum of the first is not larger.
[[nodiscard]] std::optional<std::size_t> decisive_term(std::span<const PriorityTerm> first,
                                                       std::span<const PriorityTerm> second);

// Of a plan for that view, not carried out yet. Nothing if the job has ended, never fits, or the
// policy gives no terms.
[[nodiscard]] std::optional<PriorityExplanation> explain_priority(const ClusterView& view,
                                                                  const Plan& plan,
                                                                  const Policy& policy,
                                                                  const Predictors& predictors,
                                                                  JobId job);

}  // namespace berth
