// Jobs that always run whole and at speed 1: as-traced ones, where no device is slow or fails.
// Nothing but the state of a job is needed to know how far it is: an iteration is a microsecond
// that it ran.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/execution.h"

namespace berth {

class SteadyExecution final : public Execution {
 public:
  // Both must outlive it.
  SteadyExecution(const Workload& workload, const ClusterState& state)
      : workload_(&workload), state_(&state) {}

  void start(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
             TimeUs now_us) override;
  void leave(JobId id, std::span<const std::uint32_t> tasks, Departure why, TimeUs now_us) override;
  void move(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
            TimeUs now_us) override;
  void copy(JobId id, const TaskPlace& copy, TimeUs now_us) override;
  void drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us) override;
  void take_over(JobId id, const TaskPlace& copy, const Placement& before, TimeUs now_us) override;
  void end(JobId id, TimeUs now_us) override;
  void set_device_speed(DeviceId id, std::int32_t speed_ppm) override;
  void stop_at(JobId id, std::int64_t iterations) override;
  void set_stop(JobId id) override;

  [[nodiscard]] bool due(const FutureEvent& event, TimeUs now_us) override;
  [[nodiscard]] bool ends_early(JobId id) const override;
  [[nodiscard]] bool refresh(TimeUs now_us, EventQueue& queue) override;

  [[nodiscard]] bool whole(JobId id) const override;
  void failing_with(JobId id, std::uint32_t task, std::vector<std::uint32_t>& tasks) const override;
  void tasks_at(ServerId server, DeviceId device,
                std::vector<std::pair<JobId, std::uint32_t>>& out) const override;
  [[nodiscard]] bool copy_is_ready(JobId id, const TaskPlace& copy, TimeUs now_us) const override;

  [[nodiscard]] std::int64_t iterations(JobId id, TimeUs now_us) const override;
  [[nodiscard]] double iterations_per_s(JobId id) const override;
  [[nodiscard]] double best_replica_iterations_per_s(JobId id) const override;
  [[nodiscard]] std::vector<JobOutcome> outcomes(TimeUs now_us) override;
  [[nodiscard]] bool work_is_conserved() const override;

 private:
  // Of all its runs together when it ends.
  [[nodiscard]] TimeUs target_us(JobId id) const;

  const Workload* workload_;
  const ClusterState* state_;
  std::map<JobId, TimeUs> limits_;  // by stop_at(), below the given work
  std::vector<JobId> changed_;      // since the last refresh(): their events are not in the queue
};

}  // namespace berth
