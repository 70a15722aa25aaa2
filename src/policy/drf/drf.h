// Dominant-resource fairness (Ghodsi et al., NSDI 2011), the rule of Mesos and of YARN's fair
// scheduler.
//
// Algorithm 1, progressive filling: the user with the smallest dominant share, the largest of its
// shares of GPUs, cores and memory, launches its next task, again and again. A gang is one task: a
// user's next is the first in order of arrival of its jobs. Without a user a job counts for its
// virtual cluster, without that for itself. Nothing is preempted.
//
// Algorithm 1 stops at a task that does not fit. Here, as in both systems, others go on, so wide
// jobs may starve. With the option patience_h what is free is kept for the job that has waited
// longest, once it has waited for so long: YARN's reservations. Under overload that makes it first
// come first served, which costs far more than it gives; so it is off by default.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_drf(std::span<const PolicyOption> options);

}  // namespace berth
