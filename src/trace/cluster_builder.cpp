#include "trace/cluster_builder.h"

#include <fmt/format.h>

#include <utility>

namespace berth::trace {

ClusterBuilder::ClusterBuilder(std::string_view file) : file_(file) {
  cluster_.name = file_;
}

Status ClusterBuilder::add(const Node& node, std::uint64_t line) {
  if (!names_.insert(node.name).second) {
    return fail(error(line, "node", "a node is there twice", fmt::format("'{}'", node.name),
                      "each node once"));
  }
  if (node.gpus > kMaxGpusPerServer ||
      static_cast<std::int64_t>(cluster_.gpus()) + node.gpus > kMaxGpus ||
      static_cast<std::int64_t>(names_.size()) > kMaxServers) {
    return fail(error(line, "gpus", "more than can be simulated", fmt::format("{}", node.gpus),
                      fmt::format("at most {} GPUs a node, {} GPUs and {} nodes in all",
                                  kMaxGpusPerServer, kMaxGpus, kMaxServers)));
  }
  GpuTypeId type = cluster_.find_gpu_type(node.gpu_type);
  if (!type.valid()) {
    if (cluster_.gpu_types.size() == kMaxGpuTypes) {
      return fail(error(line, "GPU type", "too many GPU types", fmt::format("'{}'", node.gpu_type),
                        fmt::format("at most {}", kMaxGpuTypes)));
    }
    type = GpuTypeId{cluster_.gpu_types.size()};
    cluster_.gpu_types.push_back({.name = node.gpu_type, .memory_mib = node.gpu_memory_mib});
  }
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = node.cpu_milli;
  capacity[Resource::kMemoryMib] = node.memory_mib;
  cluster_.add_server(node.name, type, static_cast<std::uint32_t>(node.gpus), capacity);
  return {};
}

Result<Cluster> ClusterBuilder::finish() {
  if (cluster_.servers.empty()) {
    return fail(error(0, {}, "there is no node in this list", "no rows", "at least one"));
  }
  return std::move(cluster_);
}

Error ClusterBuilder::error(std::uint64_t line, std::string field, std::string message,
                            std::string found, std::string expected) const {
  return bad_input(file_, line, std::move(field), std::move(message), std::move(found),
                   std::move(expected));
}

}  // namespace berth::trace
