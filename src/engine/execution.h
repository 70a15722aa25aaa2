// What running means in the simulator: which replicas compute, at what speed, and what starting,
// moving, stopping and failing cost (simulation.md, a job's progress).
//
// Told of every change of places; after all changes of an instant refresh() works out new speeds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/event_queue.h"
#include "engine/progress.h"
#include "engine/workload.h"
#include "model/cluster_state.h"
#include "policy/policy.h"

namespace berth {

// How tasks count that were placed without the rest of their replica (simulation.md: two named
// exceptions for study).
enum class ProgressRule : std::uint8_t {
  kWhole,    // replicas are admitted whole or not at all
  kHold,     // a part of a replica may hold its devices, and waits
  kPartial,  // speed in proportion to the tasks that are placed
};

// The rule under which a policy runs: the one that was chosen, but that parts may hold devices
// under a policy that places them.
[[nodiscard]] inline ProgressRule rule_for(const PolicyInfo& policy, ProgressRule chosen) {
  return policy.holds_parts && chosen == ProgressRule::kWhole ? ProgressRule::kHold : chosen;
}

// What came of a training job beyond its state.
struct JobOutcome {
  std::int64_t iterations = 0;              // that it kept
  std::int64_t iterations_by_deadline = 0;  // by its deadline, or by its end if that was earlier
  double held_gpu_us = 0;                   // GPUs times the time that its workers held them
};

// Sums over a run.
struct ExecutionTotals {
  WorkUnits run = 0;  // all work done; what is kept of it and what was lost add up to it
  WorkUnits lost = 0;
  std::uint64_t migrations = 0;  // tasks that moved
  std::uint64_t overloads = 0;   // entries of a server into overload
  double inter_server_bytes = 0;
};

class Execution {
 public:
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  virtual ~Execution() = default;

  // Tasks of a pending or running job have started. `before`: where its tasks were, or had been.
  virtual void start(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
                     TimeUs now_us) = 0;
  // Placed tasks of a running job are about to leave, as a preemption or as a failure.
  virtual void leave(JobId id, std::span<const std::uint32_t> tasks, Departure why,
                     TimeUs now_us) = 0;
  // Tasks of a running job have changed their places.
  virtual void move(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
                    TimeUs now_us) = 0;
  // A task of a running job has got a copy; or one is about to leave, its job goes on; or one has
  // got the place of its task, which was at `before`. Copies also go with their task, and all
  // copies of a job when it moves, without a word.
  virtual void copy(JobId id, const TaskPlace& copy, TimeUs now_us) = 0;
  virtual void drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us) = 0;
  virtual void take_over(JobId id, const TaskPlace& copy, const Placement& before,
                         TimeUs now_us) = 0;
  // The job is about to end where it is, if it runs.
  virtual void end(JobId id, TimeUs now_us) = 0;
  // Only where faults were announced.
  virtual void set_device_speed(DeviceId id, std::int32_t speed_ppm) = 0;
  // The job is to end after so many iterations, if it would not before.
  virtual void stop_at(JobId id, std::int64_t iterations) = 0;
  // Its stop option has changed.
  virtual void set_stop(JobId id) = 0;

  // An event of the queue is due. True: the job's work is done. Stale events are false.
  [[nodiscard]] virtual bool due(const FutureEvent& event, TimeUs now_us) = 0;
  // Whether the job is to end before its given iterations.
  [[nodiscard]] virtual bool ends_early(JobId id) const = 0;
  // New speeds, and new events into the queue. False: time ran out of range.
  [[nodiscard]] virtual bool refresh(TimeUs now_us, EventQueue& queue) = 0;

  // Whether no replica of the job is there in part.
  [[nodiscard]] virtual bool whole(JobId id) const = 0;
  // Tasks to leave if this task fails: its replica, or all for the parameter server.
  virtual void failing_with(JobId id, std::uint32_t task,
                            std::vector<std::uint32_t>& tasks) const = 0;
  // Tasks on a device, or on a server (an invalid device), job by job. Only where faults were
  // announced.
  virtual void tasks_at(ServerId server, DeviceId device,
                        std::vector<std::pair<JobId, std::uint32_t>>& out) const = 0;

  // Whether a copy has loaded.
  [[nodiscard]] virtual bool copy_is_ready(JobId id, const TaskPlace& copy,
                                           TimeUs now_us) const = 0;

  // Done and kept, of a job that has not ended.
  [[nodiscard]] virtual std::int64_t iterations(JobId id, TimeUs now_us) const = 0;
  // Its speed since the last refresh().
  [[nodiscard]] virtual double iterations_per_s(JobId id) const = 0;
  // The speed of its fastest replica ever; 0 before one has computed.
  [[nodiscard]] virtual double best_replica_iterations_per_s(JobId id) const = 0;
  // By JobId, as of now; nothing for as-traced jobs, of which the state says all.
  [[nodiscard]] virtual std::vector<JobOutcome> outcomes(TimeUs now_us) = 0;
  // Whether all work that was ever done is kept or counted as lost.
  [[nodiscard]] virtual bool work_is_conserved() const = 0;

  [[nodiscard]] const ExecutionTotals& totals() const { return totals_; }

 protected:
  ExecutionTotals totals_;
};

// The simplest that tells the truth about these jobs on this cluster. Workload and state must
// outlive it. `faults`: whether servers or devices may fail or be slow.
[[nodiscard]] std::unique_ptr<Execution> make_execution(const Workload& workload,
                                                        const ClusterState& state,
                                                        ProgressRule rule, bool faults);

}  // namespace berth
