// MLF-H exactly as published (Wang, Liu and Shen, CoNEXT 2020), for study: what its formulas and
// rules do by themselves. `mlf-h` is the policy to use.
//
// - Priorities by eq. 2 to 6 in seconds (formulas.h), of each task by itself.
// - At every event tasks that wait are placed one by one in the order of their priorities, each on
//   the server nearest to the ideal virtual one and there on the least loaded GPU, while a server
//   has room (place/ideal_server.h). Nobody waits for the rest of a replica: a task that is placed
//   holds its GPU, and its replica computes once all of it is there (PolicyInfo::holds_parts). So
//   parts of replicas may hold everything, each waiting for the others, for ever; the simulator
//   reports that (docs/metrics.md, `deadlock_at_s`), and nothing here prevents it.
// - A server is overloaded above h_r of a resource or of a GPU, by what its tasks really use (the
//   paper measures too). Then tasks leave until it no longer is: by the ideal virtual task, of the
//   lowest share p_s of those on overloaded GPUs while there is one. Each moves straight to a
//   server that it does not overload, and waits in the queue if there is none
//   (policy/common/overload.h). Nothing else ever leaves.
// - The scheduler also runs every minute in the paper. Between two events nothing changes here that
//   a decision depends on, but the order of those that wait, who have no room anyway.
//
// Where the paper says nothing: formulas.h; a task that asks for more of a GPU than h_r runs alone
// on one, and a GPU with one task is never overloaded; parameter servers are not moved.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_mlf_h_literal(
    std::span<const PolicyOption> options);

}  // namespace berth
