// Berth's own policy: of many plans the one that saves all jobs most time.
//
// - Jobs go in the order of 1 over the time that they still run, over their GPUs (worth.h): what a
//   job has reported tells that better than any prediction once it has run. An accuracy that it
//   must have by its deadline counts as another end when it is time for it (accuracy_goal.h).
// - A plan saves, in seconds of completion time a second, for each job that runs: its part of the
//   cluster times the jobs behind it in that order, for they all wait for its work;
//   `own` for itself; and three hours, spread over the time to it, for an accuracy that it is time
//   for. Were the cluster one pool, the first would be the whole gradient of the sum of completion
//   times, and the order the best plan; what does not fit beside what makes plans necessary.
// - At each decision at which somebody waits, or has fewer replicas than it asked for, plans for
//   the jobs that run and the densest that wait are tried (plan_search.h): who runs, who is
//   stopped, and who is moved so that another fits. On more than search_gpus GPUs that is done once
//   a round only, and with fewer tries the more GPUs there are; in between only those displace
//   others that came to wait since. What is free goes to those that fit, in order, beyond these
//   jobs too.
// - Who runs stays for least_run_s, and a plan that stops or moves it must gain more over horizon_s
//   than the restart_s that it is taken to lose.
// - Of a job of several replicas as many run as find room.
// - A gang is placed on as few servers as possible, and its tasks among those places such that
//   little is sent between servers (place/task_mapping.h).
// - A job that has waited for patience_h goes before all others (common/patience.h).
//
// What was tried and left out is in docs/berth.md, with the figures.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_berth(std::span<const PolicyOption> options);

}  // namespace berth
