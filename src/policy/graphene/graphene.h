// Graphene (Grandl et al., OSDI 2016): those that are hard to pack first, the others around them.
//
// - Inside a job the paper places the troublesome tasks (long, or tough to pack) on an empty plane
//   of resources and time first, then their ancestors and descendants around them, and follows that
//   order when the job runs (offline and online part). Here all tasks of a replica run together,
//   iteration by iteration, so the order of the task graph leaves a scheduler no choice: of the
//   paper's idea remains which job goes first and on which servers. Of the jobs that start at one
//   moment those of the most tasks choose their servers first, and the others fit around them.
// - Between jobs (online part) each has a score: how well its demand is aligned with what is there
//   (the packing score of Tetris, SIGCOMM 2014), less its remaining work, over all resources and
//   weighted. Here, with the footprint d (the mean part of the cluster's GPUs, cores and memory
//   that it takes) and the predicted remaining time r, the job with the least
//       r d / (1 + w d)
//   goes first: r d is the remaining work, and the dot product of the demand with an empty cluster
//   grows with d, so w is the weight of packing. The paper adds the two terms, each over its mean;
//   the quotient needs no means, which a few jobs of 32 GPUs would rule. Alignment with what is
//   free at the moment would change the order from event to event only by the weights of the
//   resources, as GPUs are what is short.
// - Bounded unfairness: the paper serves the job that is furthest below its fair share once its
//   deficit passes a bound. Where all shares are equal that is a bound on the wait: patience
//   (policy/common), without a limit unless set.
//
// Tasks of the paper run to their end, which is near: jobs give up machines all the time. Here a
// task lasts as long as its job, so the same freedom is preemption after a least run (preempts=0
// turns it off). It shares devices in shared mode, and overbooks nothing.
//
// Defaults by seeds 101-102, mean JCT in s at 1,860 jobs, exclusive and shared: w 0: 14,793 and
// 7,084; 1: 14,634 and 7,015; 5: 14,501 and 6,964; 100: 14,462 and 6,981, with fewer deadlines met
// (0.936 against 0.945 and 0.959 against 0.964). Without preemption (w 1) 24,837 and 12,476.
// Seeds 101-105, w 5: 15,396 and 7,502 (smith: 15,710 and 7,981).
#pragma once

#include "policy/policy.h"

namespace berth {

// How much of the cluster a job takes while it runs: the mean, over the kinds of resources that the
// cluster states (GPUs, cores, main memory), of the part that its tasks declare together.
[[nodiscard]] double footprint(const Cluster& cluster, const Job& job);

[[nodiscard]] Result<std::unique_ptr<Policy>> make_graphene(std::span<const PolicyOption> options);

}  // namespace berth
