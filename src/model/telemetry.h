// What jobs report of themselves while they run: all that a scheduler on a real cluster sees of
// their progress. Never the future, and never the truth behind what is declared.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/time.h"

namespace berth {

// What a task really takes while it runs: it varies around what its job declared, else nothing ever
// overloads. Parts of one device are means over time while alone, in parts per million of it.
struct TaskUse {
  std::int32_t sm_ppm = 0;
  std::int32_t memory_bandwidth_ppm = 0;
  std::int32_t bus_ppm = 0;
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mib = 0;
};

// How fast a device computes, as a part of what one of its type does in health: what its driver
// tells of its clocks.
struct DeviceSpeed {
  double part = 1.0;
  TimeUs since_us = 0;  // when it last changed
};

class Telemetry {
 public:
  Telemetry() = default;
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  virtual ~Telemetry() = default;

  // Every answer is of the view's instant; nothing where the job does not report it, and nothing of
  // jobs that have ended.

  // Done and kept so far.
  [[nodiscard]] virtual std::optional<std::int64_t> iterations(JobId job) const = 0;
  // The speed at which the job advances now; 0 while it loads. Nothing if it does not run.
  [[nodiscard]] virtual std::optional<double> iterations_per_s(JobId job) const = 0;
  // The highest speed at which it ever advanced, divided by the replicas that it then had: what one
  // replica does undisturbed. Nothing before it has advanced.
  [[nodiscard]] virtual std::optional<double> best_replica_iterations_per_s(JobId job) const = 0;
  // Reported after so many iterations, at most iterations(); iteration 0 is before the first.
  [[nodiscard]] virtual std::optional<double> loss(JobId job, std::int64_t iteration) const = 0;
  [[nodiscard]] virtual std::optional<double> accuracy(JobId job, std::int64_t iteration) const = 0;
  // What a task was measured to take alone. Nothing before its job has first run.
  [[nodiscard]] virtual std::optional<TaskUse> use(JobId job, std::uint32_t task) const = 0;
  // Nothing where the machines do not report it.
  [[nodiscard]] virtual std::optional<DeviceSpeed> device_speed(DeviceId /*device*/) const {
    return std::nullopt;
  }
};

}  // namespace berth
