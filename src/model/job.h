// A job as its user declared it: all that a policy may know of it beforehand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/ids.h"
#include "base/maybe.h"
#include "base/time.h"
#include "model/cluster.h"
#include "model/task_graph.h"

namespace berth {

using TaskGraphId = Id<struct TaskGraphTag>;

// When a job may end before its given iterations (MLFS, section on load control).
enum class StopOption : std::uint8_t { kIterations, kOptStop, kAccuracy };

struct Job {
  // first_task of a job so large that no placement is ever kept for it.
  static constexpr std::uint32_t kNoTasks = 0xFFFFFFFFU;

  TimeUs submit_us = 0;
  std::uint32_t first_task = kNoTasks;  // its tasks are first_task .. first_task+tasks-1
  // Replica by replica, each with the same partitions; the parameter server, if any, is the last.
  std::uint32_t tasks = 1;
  std::uint32_t replicas = 1;           // data-parallel copies, each admitted whole (simulation.md)
  std::uint32_t parameter_servers = 0;  // 0 or 1: a task that takes no GPU
  std::uint32_t gpu_milli_per_task = kWholeGpuMilli;  // of a worker; 0: a CPU job
  std::uint32_t gpu_memory_mib_per_task = 0;          // of a worker; 0: not stated
  std::uint32_t cpu_milli_per_task = 0;               // of any task; 0: not stated
  std::uint32_t memory_mib_per_task = 0;              // of any task; 0: not stated
  TaskGraphId graph;                    // invalid: independent equal tasks, one replica, a gang
  GpuTypeMask gpu_types = kAnyGpuType;  // 0: asks for a type that no server has
  UserId user;
  VcId vc;
  ModelId model;
  std::int32_t priority = 0;  // larger first
  std::int32_t urgency = 0;   // L_J in 1..10 (MLFS, eq. 2); 0: not stated
  MaybeInt deadline_us;       // instant
  MaybeInt time_limit_us;     // the user's own bound on the run time
  MaybeInt max_iterations;
  std::int32_t required_accuracy_ppm = -1;  // parts per million; -1: not stated
  StopOption stop = StopOption::kIterations;
  StopOption stop_at_worst = StopOption::kIterations;  // how far the system may downgrade it

  [[nodiscard]] std::uint32_t workers() const { return tasks - parameter_servers; }
  [[nodiscard]] std::uint32_t partitions() const {
    return replicas == 1 ? workers() : workers() / replicas;
  }
  [[nodiscard]] bool is_worker(std::uint32_t task) const { return task < workers(); }
  // GPUs taken when each task holds its share; a task with a share counts as a share.
  [[nodiscard]] std::int64_t gpu_milli() const {
    return static_cast<std::int64_t>(workers()) * gpu_milli_per_task;
  }
};

// The GPU types that the job accepts and that have the memory it declares.
[[nodiscard]] inline GpuTypeMask usable_types(const Cluster& cluster, const Job& job) {
  if (job.gpu_memory_mib_per_task == 0) return job.gpu_types;
  GpuTypeMask mask = job.gpu_types;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    const std::int64_t mib = cluster.gpu_types[t].memory_mib;
    if (mib > 0 && mib < job.gpu_memory_mib_per_task) mask &= ~(GpuTypeMask{1} << t);
  }
  return mask;
}

// How many tasks of a job that takes GPUs a device holds that has so much free.
inline constexpr std::int64_t kUnlimitedMib = std::numeric_limits<std::int64_t>::max() / 2;
[[nodiscard]] inline std::int64_t tasks_in(const Job& job, std::int64_t free_milli,
                                           std::int64_t free_mib) {
  const std::int64_t by_share = free_milli / job.gpu_milli_per_task;
  if (job.gpu_memory_mib_per_task == 0) return by_share;
  return std::min(by_share, free_mib / job.gpu_memory_mib_per_task);
}
// The same of a whole device of this type.
[[nodiscard]] inline std::int64_t tasks_in(const Job& job, const GpuType& type) {
  if (job.gpu_milli_per_task == kWholeGpuMilli && job.gpu_memory_mib_per_task == 0) return 1;
  return tasks_in(job, kWholeGpuMilli, type.memory_mib > 0 ? type.memory_mib : kUnlimitedMib);
}

// How many tasks a server has cores and main memory for that has so much of them free; may be less
// than 0, kUnlimitedMib where it states none.
[[nodiscard]] inline std::int64_t tasks_by_host(const Job& job, std::int64_t free_cpu_milli,
                                                std::int64_t free_memory_mib) {
  const auto by = [](std::int64_t free, std::int64_t each) {
    return each == 0 ? kUnlimitedMib : std::max<std::int64_t>(0, free) / each;
  };
  return std::min(by(free_cpu_milli, job.cpu_milli_per_task),
                  by(free_memory_mib, job.memory_mib_per_task));
}

enum class JobStatus : std::uint8_t {
  kPending,  // nothing of it runs: not started, preempted, or evicted by a failure
  kRunning,
  kFinished,  // all its work done
  kStopped,   // ended early by load control or its stop option
  kFailed,
};

struct JobState {
  JobStatus status = JobStatus::kPending;
  std::uint32_t preemptions = 0;
  std::uint32_t evictions = 0;     // by failures
  std::uint32_t tasks_placed = 0;  // of a running job: all, or those of some replicas
  TimeUs first_start_us = kNever;  // kNever: has not started
  TimeUs last_start_us = kNever;
  TimeUs last_stop_us = kNever;  // last preemption or end
  TimeUs last_move_us = kNever;  // when a task of it last changed its place
  TimeUs attained_us = 0;        // time run before last_start_us

  // Time run until `at_us`, all runs together; of the present run only what came before.
  [[nodiscard]] TimeUs attained_by(TimeUs at_us) const {
    if (status != JobStatus::kRunning) return attained_us;
    return attained_us + std::max<TimeUs>(0, at_us - last_start_us);
  }
  [[nodiscard]] bool ended() const {
    return status != JobStatus::kPending && status != JobStatus::kRunning;
  }
};

}  // namespace berth
