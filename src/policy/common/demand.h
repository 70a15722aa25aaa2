// What jobs ask for and clusters have, resource by resource.
#pragma once

#include "model/cluster.h"
#include "model/job.h"
#include "model/resources.h"

namespace berth {

// What all tasks of a job ask for together: GPUs, cores and main memory.
[[nodiscard]] inline ResourceVector demand_of(const Job& job) {
  ResourceVector demand;
  demand[Resource::kGpuMilli] = job.gpu_milli();
  demand[Resource::kCpuMilli] = static_cast<std::int64_t>(job.tasks) * job.cpu_milli_per_task;
  demand[Resource::kMemoryMib] = static_cast<std::int64_t>(job.tasks) * job.memory_mib_per_task;
  return demand;
}

// Of all servers, of what they state.
[[nodiscard]] inline ResourceVector capacity_of(const Cluster& cluster) {
  ResourceVector sum;
  for (const Server& server : cluster.servers) sum += server.capacity;
  return sum;
}

// The resources that demands name.
inline constexpr Resource kDemanded[] = {Resource::kGpuMilli, Resource::kCpuMilli,
                                         Resource::kMemoryMib};

}  // namespace berth
