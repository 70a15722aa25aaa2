// Whole jobs started and preempted at once, for tests of what has a ClusterState.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/cluster_state.h"

namespace berth::testing {

// All tasks of a job start at these places, in task order; why not, if it is refused.
[[nodiscard]] inline std::string start_job(ClusterState& state, JobId id,
                                           std::span<const Placement> places, TimeUs now_us) {
  std::vector<TaskPlace> tasks;
  for (std::uint32_t k = 0; k < places.size(); ++k) tasks.push_back({k, places[k]});
  return state.start_tasks(id, tasks, now_us);
}

// All tasks of a running job leave.
[[nodiscard]] inline std::string preempt_job(ClusterState& state, JobId id, TimeUs now_us) {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t k = 0; k < state.job(id).tasks; ++k) tasks.push_back(k);
  return state.remove_tasks(id, tasks, Departure::kPreempted, now_us);
}

}  // namespace berth::testing
