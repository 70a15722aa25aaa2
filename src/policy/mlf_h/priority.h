// What makes a job go before others under MLF-H: equations 2 to 6 of MLFS, each term between 0 and
// 1, and so comparable at every time scale (docs/adr/0011-bounded-priority-terms.md).
//
//   ml        = urgency x loss x size                               (eq. 2)
//   deadline  = feasible laxity                                     (eq. 4, for gamma_d / (d - t))
//   remaining = tau / (tau + r)                                     (eq. 4, for gamma_r / r)
//   waiting   = w / (w + tau)                                       (eq. 4, for gamma_w w)
//   P = alpha ml + (1 - alpha) (gamma_d deadline + gamma_r remaining + gamma_w waiting)   (eq. 6)
//
// tau is the median predicted run time of the jobs seen. Replicas run whole, so a job has the
// priority of its best task; the terms of eq. 4 are those of the job, for the deadlines of its
// tasks differ by parts of an iteration, and eq. 5 then leaves them as they are.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/task_graph.h"

namespace berth {

struct MlfWeights {
  double alpha = 0.3;
  double gamma = 0.8;  // of children
  double gamma_d = 0.3;
  double gamma_r = 0.3;
  double gamma_w = 0.35;
  // How much each factor of eq. 2 counts, from 0 (it is 1 for everybody) to 1.
  double urgency = 1.0;
  double loss = 1.0;
  double size = 1.0;
};

// What is known of a job at an instant.
struct MlfFacts {
  double urgency = 0.0;  // L_J as a part of the most
  double loss = 0.0;     // loss_factor()
  double size = 0.0;     // best_size()
  TimeUs remaining_us = 0;
  TimeUs waited_us = 0;
  double laxity = 0.0;  // feasible_laxity()
  TimeUs tau_us = 1;    // positive
};

// What each adds to the priority.
struct MlfTerms {
  double ml = 0.0;
  double deadline = 0.0;
  double remaining = 0.0;
  double waiting = 0.0;
  [[nodiscard]] double sum() const { return ml + deadline + remaining + waiting; }
};

[[nodiscard]] MlfTerms mlf_terms(const MlfWeights& weights, const MlfFacts& facts);
// The largest sum that there is.
[[nodiscard]] double most_priority(const MlfWeights& weights);

// S_k / S_J of the best task: (own + gamma x mean over children) / (1 + gamma) in place of the sum
// of eq. 3, which grows with the depth and the width of a graph beyond all bounds.
[[nodiscard]] double best_size(const TaskGraph& graph, double gamma);

// How fast the loss still falls, beside how fast it fell so far: its fall an iteration in the last
// tenth of the iterations, over that in all of them; at most 1. In place of the part of the last
// iteration in all, over the number of iterations, which is nothing after a few of them.
// `before`: the loss ahead of those `last` iterations.
[[nodiscard]] double loss_factor(double first, double before, double now, std::int64_t last,
                                 std::int64_t done);
// How many iterations the last tenth are.
[[nodiscard]] constexpr std::int64_t last_tenth(std::int64_t done) {
  return done < 20 ? 1 : done / 10;
}

// The part of the time until the deadline that it still needs, while it can be met; then 0. Without
// a deadline 0.
[[nodiscard]] double feasible_laxity(TimeUs remaining_us, std::optional<TimeUs> until_deadline_us);

}  // namespace berth
