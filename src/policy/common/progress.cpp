#include "policy/common/progress.h"

#include <algorithm>

namespace berth {
namespace {

std::optional<double> if_positive(std::optional<double> value) {
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

std::optional<Progress> progress_of(const ClusterView& view, const Predictors& predictors,
                                    JobId id) {
  if (view.telemetry == nullptr) return std::nullopt;
  const auto done = view.telemetry->iterations(id);
  if (!done) return std::nullopt;
  const Job& job = view.job(id);
  Progress out{.done = *done};
  if (job.max_iterations.known()) out.most = std::max(*done, job.max_iterations.value());
  out.best_replica_per_s = if_positive(view.telemetry->best_replica_iterations_per_s(id));
  if (const auto now = if_positive(view.telemetry->iterations_per_s(id))) {
    out.replica_per_s = *now / std::max(1U, running_replicas(view, id));
  } else if (out.best_replica_per_s) {
    out.replica_per_s = out.best_replica_per_s;
  } else if (const auto run_us = predictors.run_time_us(id); run_us && out.most) {
    const double most = static_cast<double>(*out.most) / job.replicas;
    out.replica_per_s = if_positive(most / std::max(seconds(*run_us), 1e-6));
  }
  return out;
}

std::optional<double> relative_speed(const ClusterView& view, JobId id) {
  if (view.telemetry == nullptr) return std::nullopt;
  const auto speed = view.telemetry->iterations_per_s(id);
  const auto best = view.telemetry->best_replica_iterations_per_s(id);
  if (!speed || !best || *speed <= 0) return std::nullopt;
  return *speed / (*best * running_replicas(view, id));
}

std::vector<CurvePoint> points_to_fit(const Telemetry& telemetry, JobId id, Report report,
                                      std::int64_t part, double decay) {
  std::vector<CurvePoint> points;
  for (const std::int64_t iteration : iterations_to_fit(part)) {
    auto value =
        report == Report::kLoss ? telemetry.loss(id, iteration) : telemetry.accuracy(id, iteration);
    if (!value) continue;
    if (report == Report::kInaccuracy) *value = 1.0 - *value;
    points.push_back({static_cast<double>(iteration), *value});
  }
  double weight = 1.0;
  for (auto point = points.rbegin(); point != points.rend(); ++point, weight *= decay) {
    point->weight = weight;
  }
  return points;
}

}  // namespace berth
