// Optimus (Peng, Bao, Chen, Wu and Guo, EuroSys 2018): the next worker to the job whose remaining
// time it shortens most.
//
// The paper's rules:
// - How much is left is fitted online: 1 / (b0 k + b1) + b2, non-negative least squares (section
//   3.1, eq. 1). How fast a job runs with w workers and p parameter servers, too; with eq. 3, for
//   jobs whose workers do not wait for each other, w / (t0 + t1 w / p + t2 w + t3 p) (section
//   3.2).
// - Every interval (10 minutes) each job has one worker first, so that none starves; then each next
//   one goes where the remaining time falls most by unit of resource, while anything is left and
//   gains (section 4.1).
// - Few servers, and those with most room first (section 4.2).
//
// Where this differs, and why:
// - Workers are replicas, and here a replica's iterations are the job's: the speed of w of them is
//   w / (t0 + t1 w), as there is one parameter server at most. Two observations fit it: the best
//   that one replica ever did, and what all do now. Before it runs, the predicted run time (the
//   paper runs a job on samples for that).
// - A gang's unit is the whole job; gains are compared by the GPU. With more jobs than fit, not all
//   have their first worker: those have whose remaining GPU time is least, which makes the sum of
//   completion times, the paper's goal, least where only units of jobs are given out.
// - What is left: the given iterations less those done. The fit is asked where the user's stop
//   option ends the job earlier: at an accuracy, or where accuracy levels off.
// - The rule counts seconds, so under overload what is left after the first workers goes to the
//   longest jobs, and short ones keep one worker. That is the paper's, and stays. By the way: with
//   further workers in the order of the first ones, by the least remaining GPU time, the mean
//   completion time of a busy month of Philly on 1,304 GPUs was 34,000 s instead of 48,000 s.
// - The interval is the paper's: mean completion times change by less than 1 % with 5 minutes, and
//   by 2 % with 20.
// - The factor on gains of young jobs, whose fits are poor, is left out: here what is left is
// known.
// - Jobs that report nothing go by the least predicted remaining GPU time, and without a
//   prediction first come, first served.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_optimus(std::span<const PolicyOption> options);

}  // namespace berth
