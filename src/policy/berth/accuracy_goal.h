// How far a job is from the accuracy that it must have by its deadline.
#pragma once

#include "policy/common/progress.h"

namespace berth {

class AccuracyGoals {
 public:
  // Of the iterations that the job has left, the part that it takes until it has its accuracy, in
  // (0, 1]; 0: it has it, or none is asked for by a deadline, or it does not report its iterations.
  // From a fifth of its iterations on by a curve fitted to its reports (that of Optimus; fitted
  // anew with every quarter more), before that as jobs do on average.
  [[nodiscard]] double part_left(const ClusterView& view, JobId id);
  void clear() { fits_.clear(); }

 private:
  FitCache<double> fits_;  // iterations
};

}  // namespace berth
