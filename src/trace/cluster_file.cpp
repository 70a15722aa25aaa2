#include "trace/cluster_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "trace/cluster_yaml.h"
#include "trace/input.h"
#include "trace/node_lists.h"

namespace berth::trace {
namespace {

constexpr std::size_t kMaxClusterBytes = 64U << 20U;

// A word that can only have been meant as a name.
bool looks_like_name(const std::string& spec) {
  return spec.find_first_of("./\\") == std::string::npos;
}

}  // namespace

Result<Cluster> load_cluster(const std::string& spec) {
  if (auto known = named_cluster(spec)) return *std::move(known);
  auto text = read_whole(spec, "a description of a cluster", kMaxClusterBytes);
  if (!text) {
    Error error = std::move(text).error();
    if (looks_like_name(spec)) {
      const auto names = cluster_names();
      error =
          usage_error(unknown_name("cluster", spec, names) + "; or NxG, or a file", "--cluster");
    }
    return fail(std::move(error));
  }
  if (auto nodes = parse_node_list(*text, spec)) return *std::move(nodes);
  return parse_cluster_yaml(*text, spec);
}

}  // namespace berth::trace
