// What a policy sees: const references to flat arrays, and what changed since it looked last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/time.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/reason.h"
#include "model/telemetry.h"

namespace berth {

// Counts changes: version v has seen the first v changes.
using Version = std::uint64_t;

enum class ChangeKind : std::uint8_t {
  kJobArrived,
  kJobStarted,
  kJobPreempted,
  kJobMoved,
  kJobEnded,
  kJobChanged,     // its declaration, its stop option, or which of its tasks run
  kServerChanged,  // what is free on it, or whether it is up
};

struct Change {
  ChangeKind kind;
  std::uint32_t id;  // JobId; ServerId for kServerChanged
};

struct Placement {
  ServerId server;  // invalid: not placed
  DeviceId device;  // invalid: a task that needs no GPU, or not placed
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Task of a job, and where it is to run.
struct TaskPlace {
  std::uint32_t task = 0;
  Placement to;
  friend bool operator==(const TaskPlace&, const TaskPlace&) = default;
};

// A task that runs on a device, once more on another server: whoever is first with an iteration of
// it wins (MLFS, stragglers). It holds what the task holds.
struct TaskCopy {
  JobId job;
  std::uint32_t task = 0;
  Placement at;
  TimeUs since_us = 0;
  friend bool operator==(const TaskCopy&, const TaskCopy&) = default;
};
inline constexpr std::size_t kMostTaskCopies = 3;  // of one task, beside itself

// Those of one job, of copies sorted by job.
[[nodiscard]] inline std::span<const TaskCopy> copies_of(std::span<const TaskCopy> copies,
                                                         JobId job) {
  if (copies.empty()) return {};
  return {std::ranges::lower_bound(copies, job, {}, &TaskCopy::job),
          std::ranges::upper_bound(copies, job, {}, &TaskCopy::job)};
}

struct DeviceState {
  std::uint32_t free_milli = kWholeGpuMilli;
  std::uint32_t tasks = 0;
  std::int64_t free_memory_mib = kUnlimitedMib;  // of a type whose memory is stated
  bool up = true;
};

struct ServerState {
  // Declared CPU and memory are promises that nothing enforces: what is free may be negative.
  ResourceVector free;
  bool up = true;
};

struct ClusterView {
  Version version = 0;
  TimeUs now_us = 0;
  const Cluster* cluster = nullptr;
  std::span<const Job> jobs;         // those that have arrived, by JobId
  std::span<const JobState> states;  // by JobId
  // Where the task runs (invalid: it does not), or last ran if its job is not running.
  std::span<const Placement> placements;   // by Job::first_task + task
  std::span<const TaskCopy> copies;        // by job and task, then the oldest first
  std::span<const DeviceState> devices;    // by DeviceId
  std::span<const ServerState> servers;    // by ServerId
  std::span<const TaskGraph> graphs;       // by TaskGraphId
  std::span<const Reason> reasons;         // by JobId: the last one given
  std::span<const JobId> heads;            // by slot of Plan::heads
  std::span<const Change> recent_changes;  // the last ones, oldest first; ends at `version`
  const Telemetry* telemetry = nullptr;    // null: jobs report nothing

  // The changes after version `since`; nothing if they are no longer kept (then read everything).
  [[nodiscard]] std::optional<std::span<const Change>> changes_since(Version since) const {
    if (since > version || version - since > recent_changes.size()) return std::nullopt;
    return recent_changes.last(version - since);
  }
  [[nodiscard]] JobId head(std::uint32_t slot) const {
    return slot < heads.size() ? heads[slot] : JobId{};
  }
  [[nodiscard]] const Job& job(JobId id) const { return jobs[id.index()]; }
  [[nodiscard]] const JobState& state(JobId id) const { return states[id.index()]; }
  [[nodiscard]] std::span<const Placement> placements_of(JobId id) const {
    return job(id).first_task == Job::kNoTasks
               ? std::span<const Placement>{}
               : placements.subspan(job(id).first_task, job(id).tasks);
  }
};

}  // namespace berth
