#include "trace/cluster_yaml.h"

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "document/fields.h"

namespace berth::trace {
namespace {

using document::Kind;
using document::Node;

// The parser takes some hundred bytes of memory for each of the text.
constexpr std::size_t kMaxYamlBytes = 2U << 20U;

class YamlCluster {
 public:
  explicit YamlCluster(std::string_view file) : fields_(file) {}

  Result<Cluster> read(const Node& root) {
    if (root.kind != Kind::kMap) return wrong(root, "", "a map with the key 'servers'");
    BERTH_CHECK_OK(known_keys(root, {"name", "gpu_types", "servers"}));
    BERTH_TRY(cluster_.name, name_in(root, "name", fields_.file()));
    if (const Node* types = root.find("gpu_types")) {
      declared_types_ = true;
      BERTH_CHECK_OK(read_types(*types));
    }
    const Node* servers = root.find("servers");
    if (servers == nullptr || servers->kind != Kind::kList || servers->children.empty()) {
      return wrong(servers != nullptr ? *servers : root, "servers",
                   "a list with at least one kind of server");
    }
    for (const Node& entry : servers->children) BERTH_CHECK_OK(read_servers(entry));
    return std::move(cluster_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const Node& at, std::string field,
                                            std::string expected) const {
    return fields_.wrong(at, std::move(field), std::move(expected));
  }
  [[nodiscard]] Status known_keys(const Node& map,
                                  const std::vector<std::string_view>& keys) const {
    return fields_.known_keys(map, "", keys);
  }

  Result<std::string> name_in(const Node& map, const char* key, std::string_view fallback) {
    const Node* node = map.find(key);
    if (node == nullptr) return std::string(fallback);
    if (!node->scalar() || node->text.empty()) return wrong(*node, key, "a name");
    return node->text;
  }

  // A number with up to three decimals, in thousandths.
  Result<std::int64_t> milli(const Node& map, const char* key, std::int64_t fallback,
                             std::int64_t low_milli, std::int64_t high_milli) {
    const Node* node = map.find(key);
    if (node == nullptr) return fallback;
    const auto value = node->scalar() ? parse_milli(node->text) : std::nullopt;
    if (!value || *value < low_milli || *value > high_milli) {
      return wrong(*node, key,
                   fmt::format("a number from {} to {}", static_cast<double>(low_milli) / 1000,
                               static_cast<double>(high_milli) / 1000));
    }
    return *value;
  }

  Result<std::int64_t> whole(const Node& map, const char* key, std::int64_t fallback,
                             std::int64_t low, std::int64_t high) {
    BERTH_TRY(const std::int64_t value, milli(map, key, fallback * 1000, low * 1000, high * 1000));
    if (value % 1000 != 0) return wrong(*map.find(key), key, "a whole number");
    return value / 1000;
  }

  Status read_types(const Node& types) {
    if (types.kind != Kind::kList) return wrong(types, "gpu_types", "a list");
    for (const Node& entry : types.children) {
      BERTH_CHECK_OK(known_keys(entry, {"name", "memory_mib", "speed"}));
      if (entry.find("name") == nullptr) return wrong(entry, "name", "the name of the GPU type");
      GpuType type;
      BERTH_TRY(type.name, name_in(entry, "name", {}));
      if (cluster_.find_gpu_type(type.name).valid()) {
        return wrong(*entry.find("name"), "name", "each GPU type once");
      }
      BERTH_TRY(type.memory_mib, whole(entry, "memory_mib", 0, 1, 100'000'000));
      BERTH_TRY(type.speed_milli, milli(entry, "speed", 1000, 1, 1'000'000));
      BERTH_CHECK_OK(add_type(std::move(type), entry));
    }
    return {};
  }

  Status read_servers(const Node& entry) {
    BERTH_CHECK_OK(known_keys(
        entry, {"name", "count", "gpus", "gpu_type", "cpus", "memory_mib", "network_bytes_per_s"}));
    BERTH_TRY(const std::int64_t count, whole(entry, "count", 1, 1, kMaxServers));
    if (entry.find("gpus") == nullptr) return wrong(entry, "gpus", "the GPUs of each such server");
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
    const bool numbered = count > 1 || entry.find("name") == nullptr;
    for (std::int64_t i = 0; i < count; ++i) {
      std::string full = numbered ? fmt::format("{}{}", name, cluster_.servers.size()) : name;
      if (!names_.insert(full).second) {
        return fail(bad_input(fields_.file(), entry.line, "name", "a server is there twice",
                              "'" + full + "'", "each name once"));
      }
      cluster_.add_server(std::move(full), type, static_cast<std::uint32_t>(gpus), capacity);
    }
    return {};
  }

  Result<GpuTypeId> type_of(const Node& entry) {
    BERTH_TRY(std::string name, name_in(entry, "gpu_type", {}));
    const GpuTypeId known = cluster_.find_gpu_type(name);
    if (known.valid()) return known;
    if (!name.empty() && declared_types_) {
      std::vector<std::string_view> names;
      for (const GpuType& type : cluster_.gpu_types) names.push_back(type.name);
      return fail(bad_input(fields_.file(), entry.find("gpu_type")->line, "gpu_type",
                            unknown_name("GPU type", name, names)));
    }
    BERTH_CHECK_OK(add_type({.name = std::move(name)}, entry));
    return GpuTypeId{cluster_.gpu_types.size() - 1};
  }

  Status add_type(GpuType type, const Node& at) {
    if (cluster_.gpu_types.size() == kMaxGpuTypes) {
      return wrong(at, "gpu_type", fmt::format("at most {} GPU types", kMaxGpuTypes));
    }
    cluster_.gpu_types.push_back(std::move(type));
    return {};
  }

  document::Fields fields_;  // for messages
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
  BERTH_TRY(const auto documents, document::parse_yaml(text, file));
  if (documents.size() > 1) {
    return fail(bad_input(file, documents[1].line, {}, "more than one document",
                          fmt::format("{}", documents.size()), "one cluster"));
  }
  return YamlCluster(file).read(documents.empty() ? Node() : documents.front());
}

}  // namespace berth::trace
