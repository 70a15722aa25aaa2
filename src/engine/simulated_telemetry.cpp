#include "engine/simulated_telemetry.h"

namespace berth {

std::optional<std::int64_t> SimulatedTelemetry::iterations(JobId job) const {
  if (!reports(job)) return std::nullopt;
  return execution_.iterations(job, now_us_);
}

std::optional<double> SimulatedTelemetry::iterations_per_s(JobId job) const {
  if (!reports(job) || state_.state(job).status != JobStatus::kRunning) return std::nullopt;
  return execution_.iterations_per_s(job);
}

std::optional<double> SimulatedTelemetry::best_replica_iterations_per_s(JobId job) const {
  if (!reports(job)) return std::nullopt;
  const double best = execution_.best_replica_iterations_per_s(job);
  return best > 0 ? std::optional(best) : std::nullopt;
}

const LearningCurve* SimulatedTelemetry::curve(JobId job, std::int64_t iteration) const {
  if (!reports(job) || iteration < 0 || iteration > execution_.iterations(job, now_us_)) {
    return nullptr;
  }
  return &workload_.training.jobs[job.index()].curve;
}

std::optional<double> SimulatedTelemetry::loss(JobId job, std::int64_t iteration) const {
  const LearningCurve* known = curve(job, iteration);
  return known != nullptr ? std::optional(known->loss(iteration)) : std::nullopt;
}

std::optional<double> SimulatedTelemetry::accuracy(JobId job, std::int64_t iteration) const {
  const LearningCurve* known = curve(job, iteration);
  return known != nullptr ? std::optional(known->accuracy(iteration)) : std::nullopt;
}

std::optional<TaskUse> SimulatedTelemetry::use(JobId job, std::uint32_t task) const {
  if (!reports(job) || state_.state(job).first_start_us == kNever ||
      task >= state_.job(job).tasks) {
    return std::nullopt;
  }
  const TrainingTruth& truth = workload_.training.jobs[job.index()];
  return workload_.training.uses[truth.first_use + task];
}

}  // namespace berth
