#include "controller/live_telemetry.h"

namespace berth {

const JobReports* LiveTelemetry::reports(JobId job) const {
  const LiveJob* live = jobs_.find(job);
  if (live == nullptr || !live->reports || !live->reports->iterations()) return nullptr;
  return live->reports.get();
}

std::optional<std::int64_t> LiveTelemetry::iterations(JobId job) const {
  const JobReports* found = reports(job);
  return found != nullptr ? found->iterations() : std::nullopt;
}

std::optional<double> LiveTelemetry::iterations_per_s(JobId job) const {
  const JobReports* found = reports(job);
  return found != nullptr ? found->iterations_per_s() : std::nullopt;
}

std::optional<double> LiveTelemetry::best_replica_iterations_per_s(JobId job) const {
  const JobReports* found = reports(job);
  return found != nullptr ? found->best_replica_iterations_per_s() : std::nullopt;
}

std::optional<double> LiveTelemetry::loss(JobId job, std::int64_t iteration) const {
  const JobReports* found = reports(job);
  return found != nullptr ? found->curve().loss_at(iteration) : std::nullopt;
}

std::optional<double> LiveTelemetry::accuracy(JobId job, std::int64_t iteration) const {
  const JobReports* found = reports(job);
  return found != nullptr ? found->curve().accuracy_at(iteration) : std::nullopt;
}

// Nothing measures it yet.
std::optional<TaskUse> LiveTelemetry::use(JobId /*job*/, std::uint32_t /*task*/) const {
  return std::nullopt;
}

}  // namespace berth
