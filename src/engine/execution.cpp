#include "engine/execution.h"

#include <algorithm>

#include "engine/replica_execution.h"
#include "engine/steady_execution.h"

namespace berth {
namespace {

bool all_at_speed_one(const Cluster& cluster) {
  return std::ranges::all_of(cluster.servers, [&](const Server& server) {
    return server.gpus == 0 || cluster.gpu_types[server.gpu_type.index()].speed_milli == 1000;
  });
}

}  // namespace

std::unique_ptr<Execution> make_execution(const Workload& workload, const ClusterState& state,
                                          ProgressRule rule, bool faults) {
  if (workload.training.jobs.empty() && !faults && rule == ProgressRule::kWhole &&
      all_at_speed_one(state.cluster())) {
    return std::make_unique<SteadyExecution>(workload, state);
  }
  return std::make_unique<ReplicaExecution>(workload, state, rule, faults);
}

}  // namespace berth
