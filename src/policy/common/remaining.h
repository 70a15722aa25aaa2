// How long a job still runs, as far as a scheduler can know: what every policy believes that orders
// by it, so that none knows more than another.
#pragma once

#include "policy/policy.h"

namespace berth {

// Predicted whole run time, less the time that it has run by `at_us` (MLFS, r_k of eq. 4). Once it
// has outlived the prediction: that part, `outlived`, of the time it has run; nothing where the
// predictor cannot tell.
[[nodiscard]] inline std::optional<TimeUs> remaining_us(const ClusterView& view,
                                                        const Predictors& predictors, JobId id,
                                                        TimeUs at_us, double outlived = 0) {
  const auto predicted_us = predictors.run_time_us(id);
  if (!predicted_us) return std::nullopt;
  const TimeUs ran_us = view.state(id).attained_by(at_us);
  if (*predicted_us > ran_us) return *predicted_us - ran_us;
  return static_cast<TimeUs>(outlived * static_cast<double>(ran_us));
}

}  // namespace berth
