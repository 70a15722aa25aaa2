#include "model/cluster.h"

#include <fmt/format.h>

#include <array>

#include "base/number.h"
#include "base/text.h"

namespace berth {
namespace {

constexpr std::int64_t kMibPerGib = 1024;
constexpr std::int64_t kBytesPerMib = 1024 * kMibPerGib;
constexpr std::array<std::string_view, 3> kNames = {"philly", "mlfs-real", "mlfs-large"};

void add_servers(Cluster& cluster, std::string_view prefix, int count, GpuTypeId type,
                 std::uint32_t gpus, const ResourceVector& capacity = {}) {
  for (int i = 0; i < count; ++i) {
    cluster.add_server(fmt::format("{}{}", prefix, cluster.servers.size()), type, gpus, capacity);
  }
}

Cluster uniform_cluster(std::string name, int servers, std::uint32_t gpus) {
  Cluster cluster;
  cluster.name = std::move(name);
  cluster.gpu_types.push_back({});
  add_servers(cluster, "s", servers, GpuTypeId{0U}, gpus);
  return cluster;
}

// The published machine list of the Philly trace (Jeon et al., ATC 2019): 552 machines.
Cluster philly_cluster() {
  Cluster cluster = uniform_cluster("philly", 231, 8);
  add_servers(cluster, "s", 321, GpuTypeId{0U}, 2);
  return cluster;
}

// MLFS, section on experiments: 20 servers of 4 V100, 32 cores, 244 GB; 10 Gbit/s links (AWS
// p3.8xlarge).
Cluster mlfs_real_cluster() {
  Cluster cluster;
  cluster.name = "mlfs-real";
  cluster.gpu_types.push_back({.name = "V100", .memory_mib = 16 * kMibPerGib});
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = 32'000;
  capacity[Resource::kMemoryMib] = 244'000'000'000 / kBytesPerMib;
  capacity[Resource::kNetBytesPerS] = 1'250'000'000;
  add_servers(cluster, "s", 20, GpuTypeId{0U}, 4, capacity);
  return cluster;
}

// MLFS, simulated: 550 servers, 2,474 GPUs. The paper gives the totals only; servers of 8 and 2
// GPUs, as in Philly, make them exactly: 229 x 8 + 321 x 2.
Cluster mlfs_large_cluster() {
  Cluster cluster;
  cluster.name = "mlfs-large";
  cluster.gpu_types.push_back({.name = "V100", .memory_mib = 16 * kMibPerGib});
  const auto capacity_for = [](std::int64_t gpus) {
    ResourceVector capacity;  // the share of a GPU as in mlfs-real
    capacity[Resource::kCpuMilli] = 8'000 * gpus;
    capacity[Resource::kMemoryMib] = 244'000'000'000 / kBytesPerMib / 4 * gpus;
    capacity[Resource::kNetBytesPerS] = 1'250'000'000;
    return capacity;
  };
  add_servers(cluster, "s", 229, GpuTypeId{0U}, 8, capacity_for(8));
  add_servers(cluster, "s", 321, GpuTypeId{0U}, 2, capacity_for(2));
  return cluster;
}

std::optional<Result<Cluster>> sized_cluster(std::string_view name) {
  const auto parts = split(name, 'x');
  if (parts.size() != 2) return std::nullopt;
  const auto servers = parse_int(parts[0]);
  const auto gpus = parse_int(parts[1]);
  if (!servers || !gpus) return std::nullopt;
  if (*servers < 1 || *gpus < 1 || *servers > kMaxServers || *gpus > kMaxGpusPerServer ||
      *servers * *gpus > kMaxGpus) {
    Error error = usage_error("not a possible size", "--cluster");
    error.found = std::string(name);
    error.expected = fmt::format("NxG: 1 to {} servers of 1 to {} GPUs, {} GPUs in all at most",
                                 kMaxServers, kMaxGpusPerServer, kMaxGpus);
    return fail(std::move(error));
  }
  return uniform_cluster(std::string(name), static_cast<int>(*servers),
                         static_cast<std::uint32_t>(*gpus));
}

}  // namespace

ServerId Cluster::add_server(std::string server_name, GpuTypeId gpu_type, std::uint32_t gpus,
                             ResourceVector capacity) {
  const ServerId id{servers.size()};
  capacity[Resource::kGpuMilli] = static_cast<std::int64_t>(gpus) * kWholeGpuMilli;
  servers.push_back({std::move(server_name), gpu_type, DeviceId{devices.size()}, gpus, capacity});
  devices.insert(devices.end(), gpus, Device{id, gpu_type});
  if (gpus_by_type_.size() <= gpu_type.index()) gpus_by_type_.resize(gpu_type.index() + 1);
  gpus_by_type_[gpu_type.index()] += gpus;
  return id;
}

GpuTypeId Cluster::find_gpu_type(std::string_view type_name) const {
  for (std::size_t i = 0; i < gpu_types.size(); ++i) {
    if (gpu_types[i].name == type_name) return GpuTypeId{i};
  }
  return {};
}

std::int64_t Cluster::gpus_of(GpuTypeMask mask) const {
  if (mask == kAnyGpuType) return static_cast<std::int64_t>(devices.size());
  std::int64_t sum = 0;
  for (std::size_t type = 0; type < gpus_by_type_.size(); ++type) {
    if ((mask >> type & 1U) != 0) sum += gpus_by_type_[type];
  }
  return sum;
}

std::optional<Result<Cluster>> named_cluster(std::string_view name) {
  if (name == "philly") return philly_cluster();
  if (name == "mlfs-real") return mlfs_real_cluster();
  if (name == "mlfs-large") return mlfs_large_cluster();
  return sized_cluster(name);
}

std::span<const std::string_view> cluster_names() {
  return kNames;
}

}  // namespace berth
