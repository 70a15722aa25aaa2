// What the jobs of a simulation report: the engine's truth, up to now and no further.
#pragma once

#include "engine/execution.h"
#include "engine/workload.h"
#include "model/telemetry.h"

namespace berth {

class SimulatedTelemetry final : public Telemetry {
 public:
  // All must outlive it.
  SimulatedTelemetry(const Workload& workload, const ClusterState& state,
                     const Execution& execution, const std::vector<DeviceSpeed>& device_speeds,
                     const TimeUs& now_us)
      : workload_(workload),
        state_(state),
        execution_(execution),
        device_speeds_(device_speeds),
        now_us_(now_us) {}

  [[nodiscard]] std::optional<std::int64_t> iterations(JobId job) const override;
  [[nodiscard]] std::optional<double> iterations_per_s(JobId job) const override;
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId job) const override;
  [[nodiscard]] std::optional<double> loss(JobId job, std::int64_t iteration) const override;
  [[nodiscard]] std::optional<double> accuracy(JobId job, std::int64_t iteration) const override;
  [[nodiscard]] std::optional<TaskUse> use(JobId job, std::uint32_t task) const override;
  [[nodiscard]] std::optional<DeviceSpeed> device_speed(DeviceId device) const override {
    return device_speeds_[device.index()];
  }

 private:
  [[nodiscard]] bool reports(JobId job) const {
    return !workload_.training.jobs.empty() && !state_.state(job).ended();
  }
  // Its learning curve, if the job is that far.
  [[nodiscard]] const LearningCurve* curve(JobId job, std::int64_t iteration) const;

  const Workload& workload_;
  const ClusterState& state_;
  const Execution& execution_;
  const std::vector<DeviceSpeed>& device_speeds_;  // by DeviceId
  const TimeUs& now_us_;
};

}  // namespace berth
