// Tiresias (Gu et al., NSDI 2019): preemptive, two-dimensional (GPUs x time), without knowing how
// long jobs run.
//
// - `tiresias`, section 3.3, discretised 2D-LAS: a job's attained service is its GPUs times the
// time
//   that it ran; thresholds on it make K queues, first come first served within one. A job enters
//   the first queue and falls as it is served.
// - `tiresias-gittins`, section 3.2, 2D-Gittins: the highest Gittins index first,
//   G(a) = sup over D of P(S - a <= D | S > a) / E[min(S - a, D) | S > a], where S is the service
//   that jobs took in all, learned from those that ended, and a what the job has had. Levels of `a`
//   in place of queues.
//
// Section 3.4: a job that starves may be promoted; here by patience (policy/common). Section 3.5:
// placement on as few servers as possible, which the paper asks of models with skewed tensors only;
// here it is sought for all and demanded of none, as tensors are not part of a job.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_tiresias(std::span<const PolicyOption> options);
[[nodiscard]] Result<std::unique_ptr<Policy>> make_tiresias_gittins(
    std::span<const PolicyOption> options);

}  // namespace berth
