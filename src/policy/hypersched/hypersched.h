// HyperSched (Liaw, Bhardwaj, Dunlap, Zou, Gonzalez, Stoica and Tumanov, SoCC 2019): accuracy by
// the deadline. Jobs whose accuracy no longer grows are paused, what they leave goes to those that
// gain most in the time that is left.
//
// The paper's rules:
// - Exploration: trials are stopped by successive halving; one that does not do well enough is
//   paused, and goes on if it turns out to be among the better ones (section 4).
// - Nothing is started that the time left is too short for: what matters is accuracy at the
//   deadline.
// - Exploitation: each running trial has one atom, and what is left over is spread over them, by
//   their rank; a trial is only resized if the progress until the deadline that this makes possible
//   is worth the time that starting anew costs.
//
// Where this differs, and why:
// - The paper's trials are of one model and one deadline, and only the best of them counts: they
//   are ranked by accuracy. Here models differ, each job has its own deadline, and each counts:
//   they are ranked by the accuracy that they are predicted to gain until their deadlines, by the
//   GPU time that it takes; the prediction is a fit of what their accuracy lacks of 1.
// - Paused are those whose predicted gain is too small, because they no longer rise or because too
//   little time is left: the paper ends them, but here a user waits for each. They use what nobody
//   else wants, the least predicted remaining GPU time first.
// - Instead of weighing a resize against what it costs, a replica that would have to start is
//   predicted to lose a given time by it.
// - A job that has shown too little yet is expected to rise steadily to what its user asks for.
// - Tried: intervals of 5, 10, 20 and 30 minutes, least gains of 0.00005 to 0.005, 20 % more for
// what
//   runs.
// - Jobs that report nothing go by the least predicted remaining GPU time, and without a
//   prediction first come, first served.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_hypersched(
    std::span<const PolicyOption> options);

}  // namespace berth
