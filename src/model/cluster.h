// What a cluster is made of, before anything runs on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/resources.h"

namespace berth {

// A set of GPU types as a bit mask: bit i is GpuTypeId i. A job that does not care has kAnyGpuType.
using GpuTypeMask = std::uint64_t;
inline constexpr GpuTypeMask kAnyGpuType = ~GpuTypeMask{0};
inline constexpr std::size_t kMaxGpuTypes = 64;

// A description that goes beyond these is refused.
inline constexpr std::int64_t kMaxServers = 1'000'000;
inline constexpr std::int64_t kMaxGpusPerServer = 16'384;
inline constexpr std::int64_t kMaxGpus = 4'000'000;

struct GpuType {
  std::string name;                 // "V100"; "" where nothing is known
  std::int64_t memory_mib = 0;      // 0: not stated, not limited
  std::int64_t speed_milli = 1000;  // relative to the type that durations refer to
};

struct Server {
  std::string name;
  GpuTypeId gpu_type;
  DeviceId first_device;  // its devices are first_device .. first_device+gpus-1
  std::uint32_t gpus = 0;
  ResourceVector capacity;  // 0 CPU, memory or network: not stated, not limited
};

struct Device {
  ServerId server;
  GpuTypeId type;
};

// A virtual cluster: an organisation's share.
struct VirtualCluster {
  std::string name;
  std::int64_t quota_gpus = -1;  // most GPUs at once; -1: no limit
};

struct Cluster {
  std::string name;
  std::vector<GpuType> gpu_types;
  std::vector<Server> servers;
  std::vector<Device> devices;
  std::vector<VirtualCluster> vcs;
  std::vector<std::string> other_resources;  // names of kinds from Resource::kFirstOther on

  // Appends a server with its devices. `gpu_type` must be in gpu_types.
  ServerId add_server(std::string server_name, GpuTypeId gpu_type, std::uint32_t gpus,
                      ResourceVector capacity = {});
  [[nodiscard]] GpuTypeId find_gpu_type(std::string_view type_name) const;  // invalid if absent
  // Devices of these types, up or down.
  [[nodiscard]] std::int64_t gpus_of(GpuTypeMask mask) const;
  [[nodiscard]] std::size_t gpus() const { return devices.size(); }

 private:
  std::vector<std::int64_t> gpus_by_type_;  // grows with add_server
};

// A built-in cluster (cluster_names) or "NxG": N servers of G GPUs. Nothing if it is neither.
[[nodiscard]] std::optional<Result<Cluster>> named_cluster(std::string_view name);
[[nodiscard]] std::span<const std::string_view> cluster_names();

}  // namespace berth
