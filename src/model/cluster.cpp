#include "model/cluster.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>

#include "base/number.h"
#include "base/text.h"

namespace berth {
namespace {

constexpr std::int64_t kMaxServers = 1'000'000;
constexpr std::int64_t kMaxGpusPerServer = 16'384;
constexpr std::int64_t kMaxGpus = 4'000'000;

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

// YAML with the place of each value for messages.
class YamlCluster {
 public:
  explicit YamlCluster(std::string_view file) : file_(file) {}

  Result<Cluster> read(const YAML::Node& root) {
    if (!root.IsMap()) return wrong(root, "", "a map with the key 'servers'");
    BERTH_CHECK_OK(known_keys(root, {"name", "gpu_types", "servers"}));
    if (const auto name = root["name"]) {
      if (!name.IsScalar()) return wrong(name, "name", "a text");
      cluster_.name = name.Scalar();
    }
    if (const auto types = root["gpu_types"]) {
      declared_types_ = true;
      BERTH_CHECK_OK(read_types(types));
    }
    const auto servers = root["servers"];
    if (!servers || !servers.IsSequence() || servers.size() == 0) {
      return wrong(root, "servers", "a list with at least one kind of server");
    }
    for (const auto& entry : servers) BERTH_CHECK_OK(read_servers(entry));
    return std::move(cluster_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const YAML::Node& at, std::string field,
                                            std::string expected) const {
    const int line = at.Mark().line;
    return fail(bad_input(file_, line < 0 ? 0 : static_cast<std::uint64_t>(line) + 1,
                          std::move(field), "not valid",
                          at.IsScalar() ? "'" + at.Scalar() + "'" : "", std::move(expected)));
  }

  Status known_keys(const YAML::Node& map, std::vector<std::string_view> keys) {
    if (!map.IsMap()) return wrong(map, "", fmt::format("a map of {}", fmt::join(keys, ", ")));
    for (const auto& pair : map) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "?";
      bool known = false;
      for (const auto name : keys) known = known || name == key;
      if (!known) {
        return fail(bad_input(file_, static_cast<std::uint64_t>(pair.first.Mark().line) + 1, key,
                              unknown_name("key", key, keys)));
      }
    }
    return {};
  }

  // A number with up to three decimals, in thousandths.
  Result<std::int64_t> milli(const YAML::Node& map, const char* key, std::int64_t fallback,
                             std::int64_t low_milli, std::int64_t high_milli) {
    const auto node = map[key];
    if (!node) return fallback;
    const auto value = node.IsScalar() ? parse_milli(node.Scalar()) : std::nullopt;
    if (!value || *value < low_milli || *value > high_milli) {
      return wrong(node, key,
                   fmt::format("a number from {} to {}", static_cast<double>(low_milli) / 1000,
                               static_cast<double>(high_milli) / 1000));
    }
    return *value;
  }

  Result<std::int64_t> whole(const YAML::Node& map, const char* key, std::int64_t fallback,
                             std::int64_t low, std::int64_t high) {
    BERTH_TRY(const std::int64_t value, milli(map, key, fallback * 1000, low * 1000, high * 1000));
    if (value % 1000 != 0) return wrong(map[key], key, "a whole number");
    return value / 1000;
  }

  Status read_types(const YAML::Node& types) {
    if (!types.IsSequence()) return wrong(types, "gpu_types", "a list");
    for (const auto& entry : types) {
      BERTH_CHECK_OK(known_keys(entry, {"name", "memory_mib", "speed"}));
      if (!entry["name"] || !entry["name"].IsScalar()) return wrong(entry, "name", "a text");
      GpuType type;
      type.name = entry["name"].Scalar();
      if (cluster_.find_gpu_type(type.name).valid()) {
        return wrong(entry["name"], "name", "each GPU type once");
      }
      BERTH_TRY(type.memory_mib, whole(entry, "memory_mib", 0, 1, 100'000'000));
      BERTH_TRY(type.speed_milli, milli(entry, "speed", 1000, 1, 1'000'000));
      if (cluster_.gpu_types.size() == kMaxGpuTypes) return wrong(entry, "gpu_types", "at most 64");
      cluster_.gpu_types.push_back(std::move(type));
    }
    return {};
  }

  Status read_servers(const YAML::Node& entry) {
    BERTH_CHECK_OK(known_keys(
        entry, {"name", "count", "gpus", "gpu_type", "cpus", "memory_mib", "network_bytes_per_s"}));
    BERTH_TRY(const std::int64_t count, whole(entry, "count", 1, 1, kMaxServers));
    if (!entry["gpus"]) return wrong(entry, "gpus", "the GPUs of each such server");
    BERTH_TRY(const std::int64_t gpus, whole(entry, "gpus", 0, 0, kMaxGpusPerServer));
    ResourceVector capacity;
    BERTH_TRY(capacity[Resource::kCpuMilli], milli(entry, "cpus", 0, 1, 1'000'000'000));
    BERTH_TRY(capacity[Resource::kMemoryMib], whole(entry, "memory_mib", 0, 1, 1'000'000'000));
    BERTH_TRY(capacity[Resource::kNetBytesPerS],
              whole(entry, "network_bytes_per_s", 0, 1, 1'000'000'000'000));
    BERTH_TRY(const GpuTypeId type, type_of(entry["gpu_type"]));
    if (static_cast<std::int64_t>(cluster_.servers.size()) + count > kMaxServers ||
        static_cast<std::int64_t>(cluster_.gpus()) + count * gpus > kMaxGpus) {
      return wrong(entry, "count",
                   fmt::format("at most {} servers and {} GPUs in all", kMaxServers, kMaxGpus));
    }
    const auto name_node = entry["name"];
    if (name_node && !name_node.IsScalar()) return wrong(name_node, "name", "a text");
    const std::string name = name_node ? name_node.Scalar() : "s";
    for (std::int64_t i = 0; i < count; ++i) {
      cluster_.add_server(
          count == 1 && name_node ? name : fmt::format("{}{}", name, cluster_.servers.size()), type,
          static_cast<std::uint32_t>(gpus), capacity);
    }
    return {};
  }

  Result<GpuTypeId> type_of(const YAML::Node& node) {
    const std::string name = node && node.IsScalar() ? node.Scalar() : "";
    const GpuTypeId known = cluster_.find_gpu_type(name);
    if (known.valid()) return known;
    if (!name.empty() && !cluster_.gpu_types.empty() && declared_types_) {
      std::vector<std::string_view> names;
      for (const GpuType& type : cluster_.gpu_types) names.push_back(type.name);
      return fail(bad_input(file_, static_cast<std::uint64_t>(node.Mark().line) + 1, "gpu_type",
                            unknown_name("GPU type", name, names)));
    }
    if (cluster_.gpu_types.size() == kMaxGpuTypes) return wrong(node, "gpu_type", "at most 64");
    cluster_.gpu_types.push_back({.name = name});
    return GpuTypeId{cluster_.gpu_types.size() - 1};
  }

  std::string_view file_;
  Cluster cluster_;
  bool declared_types_ = false;
};

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

Result<Cluster> parse_cluster_yaml(std::string_view text, std::string_view file) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    YamlCluster reader(file);
    auto cluster = reader.read(root);
    if (cluster && cluster->name.empty()) cluster->name = std::string(file);
    return cluster;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line;
    return fail(bad_input(file, line < 0 ? 0 : static_cast<std::uint64_t>(line) + 1, "",
                          "not valid YAML", error.msg));
  }
}

}  // namespace berth
