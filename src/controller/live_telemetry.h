// What real jobs report, as policies ask for it.
#pragma once

#include "controller/live_jobs.h"
#include "model/telemetry.h"

namespace berth {

class LiveTelemetry final : public Telemetry {
 public:
  explicit LiveTelemetry(const LiveJobs& jobs) : jobs_(jobs) {}

  [[nodiscard]] std::optional<std::int64_t> iterations(JobId job) const override;
  [[nodiscard]] std::optional<double> iterations_per_s(JobId job) const override;
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId job) const override;
  [[nodiscard]] std::optional<double> loss(JobId job, std::int64_t iteration) const override;
  [[nodiscard]] std::optional<double> accuracy(JobId job, std::int64_t iteration) const override;
  [[nodiscard]] std::optional<TaskUse> use(JobId job, std::uint32_t task) const override;

 private:
  [[nodiscard]] const JobReports* reports(JobId job) const;

  const LiveJobs& jobs_;
};

}  // namespace berth
