// SLAQ (Zhang, Stafman, Or and Freedman, SoCC 2017): scheduling by quality. Each epoch the next
// unit of resource goes to the job whose loss it is predicted to reduce most.
//
// The paper's rules:
// - A job's losses are fitted by 1 / (a k^2 + b k + c) + d (what converges sublinearly) and by
//   mu^(k - b) + c (linearly or faster), recent ones weighing more, exponentially; the better of
//   the two predicts (section 3, prediction of quality).
// - Losses of different jobs are made comparable by the largest drop of an iteration that the job
//   has shown so far (section 3, normalisation).
// - With a units for an epoch of length T a job does a T / t iterations, t as measured. Of all
//   allocations the one is sought with the largest sum of predicted normalised drops: all jobs
//   begin with one unit, so that none starves; then each next unit goes where it gains most
//   (section 4, algorithm 1).
//
// Where this differs, and why:
// - A unit is a replica, and of a gang all of it; gains are compared by the GPU. The paper's jobs
//   run on any number of cores. With more jobs than fit, not all have their first unit: those have
//   whose gain by the GPU is largest. Nothing of the paper keeps late jobs from starving then: its
//   clusters hold one unit of each. Here it is patience (elastic_policy.h).
// - Drops are made comparable by the whole way from a job's first loss to the one that its fit
//   converges to. By the largest drop of an iteration, as in the paper, mean completion times were
//   a third longer (1,860 jobs of the preset `paper`, seeds 101-103).
// - A job that has shown too few losses is expected to fall evenly over its iterations; how fast it
//   does them is predicted from its run time; where that is unknown too, it goes first.
// - Epochs are longer than the paper's few seconds, and what runs counts for half as much again:
// its
//   jobs change their cores between two tasks, these are stopped and started. Tried: 5, 10, 20, 30
//   and 60 minutes, without and with 30 and 50 %; weights that fall by 0, 10 and 20 % a point. 60
//   minutes have less mean completion time under overload, and more at half the load.
// - Jobs that report nothing go by the least predicted remaining GPU time, and without a
//   prediction first come, first served.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_slaq(std::span<const PolicyOption> options);

}  // namespace berth
