// Equations 2 to 6 of MLFS as they stand, times in seconds: a priority for each task of a job.
//
// The paper leaves four cases open. They are read so that nothing is added to its rules:
// - Iteration 1 has no loss reduction behind it: the factor is then 1.
// - A deadline that has passed makes gamma_d / (d - t) negative. It is left so; an instant less
//   than a microsecond away counts as a microsecond.
// - A remaining time of 0, of a job that has outlived what was predicted, counts as a microsecond.
// - What is not known adds nothing: a deadline, a predicted run time.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/job.h"
#include "model/task_graph.h"

namespace berth {

struct LiteralWeights {
  double alpha = 0.3;
  double gamma = 0.8;
  double gamma_d = 0.3;
  double gamma_r = 0.3;
  double gamma_w = 0.35;
};

// What is known of a job at an instant.
struct LiteralFacts {
  double urgency = 0.0;         // L_J
  std::int64_t iteration = 1;   // I, the one under way: 1 before the first has ended
  double last_reduction = 1.0;  // the loss reduction of iteration I - 1, as a part of that of all
  std::optional<TimeUs> until_deadline_us{};  // of the job
  std::optional<TimeUs> remaining_us{};       // r
};

// Priorities of the tasks of a job by eq. 6, in task order. `waited_us`: by task, how long it has
// been in the queue; 0 where it runs. The deadline of a task is that of its job less the time that
// the tasks after it take in an iteration (on GPUs of speed 1). The parameter server, if there is
// one, has the highest of them. `graph` may be null: independent tasks, each the whole model.
void literal_priorities(const LiteralWeights& weights, const Job& job, const TaskGraph* graph,
                        const LiteralFacts& facts, const std::vector<TimeUs>& waited_us,
                        std::vector<double>& out);

// Time from the end of each task to the end of an iteration: the longest way over the tasks after
// it.
[[nodiscard]] std::vector<TimeUs> times_after(const TaskGraph& graph);

}  // namespace berth
