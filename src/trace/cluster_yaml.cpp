#include "trace/cluster_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/number.h"
#include "base/text.h"

namespace berth::trace {
namespace {

using Keys = std::initializer_list<std::string_view>;

// The parser takes some hundred bytes of memory for each of the text.
constexpr std::size_t kMaxYamlBytes = 2U << 20U;

std::uint64_t line_of(const YAML::Mark& mark) {
  return mark.line < 0 ? 0 : static_cast<std::uint64_t>(mark.line) + 1;
}

// Keeps the place of each value for messages.
class YamlCluster {
 public:
  explicit YamlCluster(std::string_view file) : file_(file) {}

  Result<Cluster> read(const YAML::Node& root) {
    if (!root.IsMap()) return wrong(root, "", "a map with the key 'servers'");
    BERTH_CHECK_OK(known_keys(root, {"name", "gpu_types", "servers"}));
    BERTH_TRY(cluster_.name, name_in(root, "name", file_));
    if (const auto types = root["gpu_types"]) {
      declared_types_ = true;
      BERTH_CHECK_OK(read_types(types));
    }
    const auto servers = root["servers"];
    if (!servers || !servers.IsSequence() || servers.size() == 0) {
      return wrong(servers ? servers : root, "servers", "a list with at least one kind of server");
    }
    for (const auto& entry : servers) BERTH_CHECK_OK(read_servers(entry));
    return std::move(cluster_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const YAML::Node& at, std::string field,
                                            std::string expected) const {
    std::string found;
    if (at.IsScalar()) found = "'" + at.Scalar() + "'";
    if (at.IsMap()) found = "a map";
    if (at.IsSequence()) found = at.size() == 0 ? "an empty list" : "a list";
    if (at.IsNull()) found = "nothing";
    return fail(bad_input(file_, line_of(at.Mark()), std::move(field), "not valid",
                          std::move(found), std::move(expected)));
  }

  // Each key is one of `keys` and stands there once.
  Status known_keys(const YAML::Node& map, Keys keys) {
    if (!map.IsMap()) return wrong(map, "", fmt::format("a map of {}", fmt::join(keys, ", ")));
    std::vector<std::string> seen;
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) return wrong(pair.first, "", "a key");
      const std::string& key = pair.first.Scalar();
      const std::uint64_t line = line_of(pair.first.Mark());
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        return fail(
            bad_input(file_, line, key, unknown_name("key", key, {keys.begin(), keys.end()})));
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        return fail(bad_input(file_, line, key, "the key is there twice", {}, "each key once"));
      }
      seen.push_back(key);
    }
    return {};
  }

  Result<std::string> name_in(const YAML::Node& map, const char* key, std::string_view fallback) {
    const auto node = map[key];
    if (!node) return std::string(fallback);
    if (!node.IsScalar() || node.Scalar().empty()) return wrong(node, key, "a name");
    return node.Scalar();
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
      if (!entry["name"]) return wrong(entry, "name", "the name of the GPU type");
      GpuType type;
      BERTH_TRY(type.name, name_in(entry, "name", {}));
      if (cluster_.find_gpu_type(type.name).valid()) {
        return wrong(entry["name"], "name", "each GPU type once");
      }
      BERTH_TRY(type.memory_mib, whole(entry, "memory_mib", 0, 1, 100'000'000));
      BERTH_TRY(type.speed_milli, milli(entry, "speed", 1000, 1, 1'000'000));
      BERTH_CHECK_OK(add_type(std::move(type), entry));
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
    BERTH_TRY(const GpuTypeId type, type_of(entry));
    if (static_cast<std::int64_t>(cluster_.servers.size()) + count > kMaxServers ||
        static_cast<std::int64_t>(cluster_.gpus()) + count * gpus > kMaxGpus) {
      return wrong(entry, "count",
                   fmt::format("at most {} servers and {} GPUs in all", kMaxServers, kMaxGpus));
    }
    BERTH_TRY(const std::string name, name_in(entry, "name", "s"));
    const bool numbered = count > 1 || !entry["name"];
    for (std::int64_t i = 0; i < count; ++i) {
      std::string full = numbered ? fmt::format("{}{}", name, cluster_.servers.size()) : name;
      if (!names_.insert(full).second) {
        return fail(bad_input(file_, line_of(entry.Mark()), "name", "a server is there twice",
                              "'" + full + "'", "each name once"));
      }
      cluster_.add_server(std::move(full), type, static_cast<std::uint32_t>(gpus), capacity);
    }
    return {};
  }

  Result<GpuTypeId> type_of(const YAML::Node& entry) {
    BERTH_TRY(std::string name, name_in(entry, "gpu_type", {}));
    const GpuTypeId known = cluster_.find_gpu_type(name);
    if (known.valid()) return known;
    if (!name.empty() && declared_types_) {
      std::vector<std::string_view> names;
      for (const GpuType& type : cluster_.gpu_types) names.push_back(type.name);
      return fail(bad_input(file_, line_of(entry["gpu_type"].Mark()), "gpu_type",
                            unknown_name("GPU type", name, names)));
    }
    BERTH_CHECK_OK(add_type({.name = std::move(name)}, entry));
    return GpuTypeId{cluster_.gpu_types.size() - 1};
  }

  Status add_type(GpuType type, const YAML::Node& at) {
    if (cluster_.gpu_types.size() == kMaxGpuTypes) {
      return wrong(at, "gpu_type", fmt::format("at most {} GPU types", kMaxGpuTypes));
    }
    cluster_.gpu_types.push_back(std::move(type));
    return {};
  }

  std::string_view file_;
  Cluster cluster_;
  std::unordered_set<std::string> names_;  // of the servers
  bool declared_types_ = false;
};

}  // namespace

Result<Cluster> parse_cluster_yaml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxYamlBytes) {
    return fail(bad_input(file, 0, {}, "too large for a cluster in YAML",
                          fmt::format("{} bytes", text.size()),
                          fmt::format("at most {}; servers that are alike need one entry with "
                                      "their count",
                                      kMaxYamlBytes)));
  }
  try {
    const auto documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      return fail(bad_input(file, line_of(documents[1].Mark()), {}, "more than one document",
                            fmt::format("{}", documents.size()), "one cluster"));
    }
    return YamlCluster(file).read(documents.empty() ? YAML::Node() : documents.front());
  } catch (const YAML::Exception& error) {
    return fail(bad_input(file, line_of(error.mark), {}, "not valid YAML", error.msg));
  }
}

}  // namespace berth::trace
