#include "controller/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace berth {
namespace {

Error cannot_use(std::string message) {
  return {.kind = ErrorKind::kUnsupported, .message = std::move(message)};
}

std::int64_t cores_for_cpu_jobs(const Server& server, const SlotOptions& options) {
  const std::int64_t cores = server.capacity[Resource::kCpuMilli] / 1000;
  if (server.gpus == 0) return cores;
  const std::int64_t wanted =
      options.cores_beside_gpus >= 0 ? options.cores_beside_gpus : cores / 4;
  return std::min(wanted, cores);
}

}  // namespace

Result<Slots> Slots::make(const Cluster& physical, const SlotOptions& options) {
  Slots out;
  out.cluster_.name = physical.name;
  out.cluster_.gpu_types = physical.gpu_types;
  out.cluster_.vcs = physical.vcs;
  if (physical.find_gpu_type(kCoreType).valid() || physical.gpu_types.size() == kMaxGpuTypes) {
    return fail(cannot_use("a GPU type called 'cpu', or too many GPU types"));
  }
  out.cluster_.gpu_types.push_back({.name = std::string(kCoreType)});
  const GpuTypeId core{out.cluster_.gpu_types.size() - 1};
  out.core_mask_ = GpuTypeMask{1} << core.value;
  out.memory_mib_per_core_ = std::numeric_limits<std::int64_t>::max();
  for (std::size_t s = 0; s < physical.servers.size(); ++s) {
    const Server& server = physical.servers[s];
    const std::int64_t all_cores = server.capacity[Resource::kCpuMilli] / 1000;
    const std::int64_t memory_mib = server.capacity[Resource::kMemoryMib];
    if (server.gpus > 0) {
      out.cluster_.add_server(server.name, server.gpu_type, server.gpus, server.capacity);
      out.servers_.emplace_back(s);
      for (std::uint32_t d = 0; d < server.gpus; ++d) {
        out.slots_.push_back({ServerId{s}, DeviceId{server.first_device.value + d}});
      }
    }
    out.most_memory_mib_ = std::max(out.most_memory_mib_, memory_mib);
    const std::int64_t cores = cores_for_cpu_jobs(server, options);
    if (cores == 0) continue;
    const std::string name = server.gpus > 0 ? server.name + "/cpu" : server.name;
    out.cluster_.add_server(name, core, static_cast<std::uint32_t>(cores));
    out.servers_.emplace_back(s);
    out.slots_.insert(out.slots_.end(), static_cast<std::size_t>(cores), {ServerId{s}, {}});
    if (memory_mib > 0) {
      out.memory_mib_per_core_ = std::min(out.memory_mib_per_core_, memory_mib / all_cores);
    }
  }
  if (out.cluster_.devices.empty()) {
    return fail(cannot_use("no core and no GPU that jobs could run on"));
  }
  if (out.memory_mib_per_core_ == std::numeric_limits<std::int64_t>::max()) {
    out.memory_mib_per_core_ = 0;
  }
  return out;
}

}  // namespace berth
