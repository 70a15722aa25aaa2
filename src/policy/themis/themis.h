// Themis (Mahajan et al., NSDI 2020): finish-time fairness.
//
// - Section 3.2: rho = T_sh / T_id. T_sh is the time from submission to the end if the job has its
//   GPUs from now on: its age and what remains. T_id is how long it would take with 1/N of the
//   cluster for itself, N jobs being active; a gang wider than that share takes turns with itself.
// - Section 4.1: what is free, or whose lease is over, is offered to the 1 - f of the jobs that are
//   worst off; they bid, and the allocation with the greatest product of improvements of rho wins.
//   A gang bids for all or nothing, so the product is approached greedily: by the improvement that
//   waiting a lease less brings, in logarithms, per GPU. What is left goes to the others, worst off
//   first (the paper: at random).
// - Section 4.2: leases. A job keeps its GPUs for that long and competes anew after it.
//
// Differs: no hidden payments, as nobody lies here; jobs are single jobs, not sets of trials. Jobs
// without predicted run times compare by age over attained time.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_themis(std::span<const PolicyOption> options);

}  // namespace berth
