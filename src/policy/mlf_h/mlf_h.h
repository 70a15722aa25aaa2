// MLF-H (Wang, Liu and Shen, CoNEXT 2020), made sound: the paper's ideas with its default weights,
//, and other forms of its formulas where these fail as they stand.
//
// - Priority (eq. 2 to 6): every term between 0 and 1, convex means over children, the laxity of
//   deadlines that can still be met, waiting bounded too (priority.h, ADR 11). The wait is all that
//   a job ever waited, so that it does not fall behind by being started.
// - Jobs run whole: a part of a replica that holds devices may wait for the rest for ever. So
//   a job goes by its best task. A job of several replicas is a gang here too: the paper scales
//   none.
// - Jobs give way after a quantum (ADR 12): the paper stops tasks on overloaded servers only, and
//   then neither the fall of the loss nor a deadline has any effect once all GPUs are taken. A job
//   that runs keeps the laxity with which it started.
// - Placement by the ideal virtual server (place/ideal_server.h), h_r as published.
// - Overloaded servers are relieved if the overload lasts and a move pays
// (policy/common/overload.h, ADR 13).
// - Stragglers: a task on a slow device gets copies on other servers, and whoever is first wins
//   (policy/common/straggler_copies.h, ADR 17). Or a job that is much slower than it was, for no
//   reason that is known, is moved to other servers (`straggler_speed`). Both are off by default.
//
// Options: alpha, gamma, gamma_d, gamma_r, gamma_w, h_r, p_s and round_s are the paper's; the
// weights of the factors of eq. 2 (urgency_weight, loss_weight, size_weight), of placement
// (traffic_weight, movement_weight), preempts and migrates turn parts off.
// straggler_copies: how many of a task, 0 (none) to 3; straggler_factor and straggler_rounds: how
// slow beside its job, and for how long.
//
// What the paper does not give, by seeds 101-110 at 1,860 jobs, all sharing, run times known with
// an error of 0.5: a least run of 300, 600, 900, 1,200 and 1,800 s (seeds 101-104: mean JCT 14,381,
// 14,004, 13,373, 13,377 and 13,623 s); a movement weight of 1, 0.3 and 0 (14,146, 14,062 and
// 14,079 s with 536, 499 and 500 TB sent); for migration see ADR 13.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_mlf_h(std::span<const PolicyOption> options);

}  // namespace berth
