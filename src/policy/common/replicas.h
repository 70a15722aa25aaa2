// Parts of a job: some of its replicas.
#pragma once

#include "model/view.h"

namespace berth {

// What so many replicas ask for, without the parameter server.
[[nodiscard]] inline Job replicas_of(const Job& job, std::uint32_t replicas) {
  Job part = job;
  part.replicas = replicas;
  part.parameter_servers = 0;
  part.tasks = replicas * job.partitions();
  return part;
}

// Of a job that runs: where this replica is, all its tasks or none.
[[nodiscard]] inline std::span<const Placement> places_of_replica(const ClusterView& view, JobId id,
                                                                  std::uint32_t replica) {
  const std::uint32_t partitions = view.job(id).partitions();
  return view.placements_of(id).subspan(std::size_t{replica} * partitions, partitions);
}

// The GPU types of the devices that a running job holds.
[[nodiscard]] inline GpuTypeMask types_held(const ClusterView& view, JobId id) {
  GpuTypeMask types = 0;
  for (const Placement& place : view.placements_of(id)) {
    if (!place.device.valid()) continue;
    types |= GpuTypeMask{1} << view.cluster->devices[place.device.index()].type.value;
  }
  return types;
}

// How many of its replicas run.
[[nodiscard]] inline std::uint32_t running_replicas(const ClusterView& view, JobId id) {
  const Job& job = view.job(id);
  const JobState& state = view.state(id);
  if (state.status != JobStatus::kRunning) return 0;
  return (state.tasks_placed - job.parameter_servers) / job.partitions();
}

// Since when a running job is where it is.
[[nodiscard]] inline TimeUs settled_since(const JobState& state) {
  return state.last_move_us == kNever ? state.last_start_us
                                      : std::max(state.last_start_us, state.last_move_us);
}

// Since when a job waits, or waited before it started last.
[[nodiscard]] inline TimeUs waits_since(const Job& job, const JobState& state) {
  return state.last_stop_us == kNever ? job.submit_us : state.last_stop_us;
}

}  // namespace berth
