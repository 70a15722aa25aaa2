#include "policy/berth/accuracy_goal.h"

#include <algorithm>

namespace berth {
namespace {

// Of all iterations, until the required accuracy: the median of the `paper` workload is 0.33.
constexpr double kUsualPart = 0.35;
// Fits of less than this part of all iterations were found to be worse than the usual part.
constexpr double kLeastFittedPart = 0.2;
// What a job is taken to need yet that should have its accuracy by its fit, and has not.
constexpr double kLatePart = 0.1;

bool has_accuracy(const ClusterView& view, JobId id, std::int64_t iteration) {
  const auto accuracy = view.telemetry->accuracy(id, iteration);
  return accuracy && *accuracy * 1e6 >= view.job(id).required_accuracy_ppm;
}

// The iteration at which the job has its accuracy by its first `part` iterations; 0: it has it.
double fitted_iteration(const ClusterView& view, JobId id, std::int64_t part) {
  if (has_accuracy(view, id, part)) return 0;
  const Job& job = view.job(id);
  const auto most = static_cast<double>(job.max_iterations.value());
  const auto curve = fit_inverse(points_to_fit(*view.telemetry, id, Report::kInaccuracy, part));
  if (!curve) return most;
  return std::min(most, curve->first_at(1 - job.required_accuracy_ppm / 1e6).value_or(most));
}

}  // namespace

double AccuracyGoals::part_left(const ClusterView& view, JobId id) {
  const Job& job = view.job(id);
  if (job.required_accuracy_ppm < 0 || !job.deadline_us.known() || !job.max_iterations.known() ||
      view.telemetry == nullptr) {
    return 0;
  }
  const auto reported = view.telemetry->iterations(id);
  const std::int64_t all = job.max_iterations.value();
  if (!reported || *reported >= all) return 0;
  const auto done = static_cast<double>(*reported);
  const auto most = static_cast<double>(all);
  double at = kUsualPart * most;
  if (done >= kLeastFittedPart * most) {
    const std::int64_t part = fitted_part(*reported);
    at = fits_.get(id, part, [&] { return fitted_iteration(view, id, part); });
    if (at <= done && has_accuracy(view, id, *reported)) return 0;
    if (at <= done) at = std::min(most, done + kLatePart * most);
  }
  return (at - done) / (most - done);
}

}  // namespace berth
