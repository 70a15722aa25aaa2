// Gandiva (Xiao et al., OSDI 2018): jobs take turns, and share devices where that is measured to
// pay.
//
// - Time slicing (suspend-resume): first come, first served; when more is asked for
//   than there is, round robin. A job that has run for a quantum gives way to those that wait, in
//   the order in which they began to. The paper's queues are per server, kept level by migration;
//   here there is one for the cluster, which is what they come to when level. A suspension costs
//   the paper 100 ms; here it costs a checkpoint and a load, 15 s to a minute, so the quantum is as
//   long as is best for it. Nothing is kept for a wide job: that is twice the mean JCT, and why no
//   bound is claimed on its wait (patience may be set).
// - Affinity (reactive mode, algorithm 1): place/affinity.h. New jobs have devices for themselves.
// - Packing (introspective mode), when no device is empty: the job that uses least of its devices
//   first, beside the job whose devices are the least used, where shares and memory fit. It is kept
//   if, after a trial, all together are faster than they would be in turns, and undone else; then
//   the next one is tried. What a job declares stands for the paper's profile of it before it has
//   run, and only jobs of as many GPUs share, task by task, so that a gang slows one other. A job
//   that never ran alone counts as undisturbed: nobody knows better. Speeds are compared with the
//   best that a job ever had, so a job that is slow for another reason (scattered over servers) may
//   be taken for one that suffers from sharing.
// - Migration (introspective mode), from the most to the least loaded: when nobody waits, a job
//   that shares devices moves to empty ones if what the sharers lose is worth it. Its cost in the
//   paper is a second; here a move costs what a suspension does. Moves to bring a scattered job
//   together are not made: who waits has the devices that come free.
// - Growing a job beyond its GPUs while devices idle (grow-shrink) is for jobs that say that they
//   can use them: none here does, and all run whole.
//
// Exclusively used GPUs leave time slicing and affinity.
//
// Defaults by seeds 101-103 at 1,860 jobs, mean JCT in s, exclusive and shared: quantum 900 s:
// 38,529 and 15,672; 1,800 s: 38,929 and 16,507; an hour: 45,522 exclusive; 1,200 s by seeds
// 101-102: 34,626 and 14,505 (600 s: 36,940 and 14,325). Decisions every 120 s instead of 60 s:
// 39,283 and 15,896. Turns that end for all at once: 59,362 and 23,124 (seeds 101-102). Shared,
// 1,200 s, seeds 101-103: 15,971; a trial of 300 s instead of 120 s: 15,701; packing never undone:
// 15,421; undone below 0.2 of the job's GPUs: 15,630; no migration: 15,971 (620 jobs: 4,085 against
// 4,077).
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_gandiva(std::span<const PolicyOption> options);

}  // namespace berth
