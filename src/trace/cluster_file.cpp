#include "trace/cluster_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "trace/cluster_yaml.h"
#include "trace/input.h"
#include "trace/node_lists.h"

namespace berth::trace {
namespace {

constexpr std::size_t kMaxClusterBytes = 64U << 20U;

Result<std::string> read_whole(const std::string& path) {
  BERTH_TRY(Input input, Input::open(path, "a description of a cluster"));
  while (input.window().size() <= kMaxClusterBytes && input.more()) {
  }
  if (!input.status()) return fail(input.status().error());
  if (input.window().size() > kMaxClusterBytes) {
    return fail(bad_input(path, 0, "", "too large for a cluster's description", "more than 64 MiB",
                          "a YAML file, or a list of nodes"));
  }
  return std::string(input.window());
}

// A word that can only have been meant as a name.
bool looks_like_name(const std::string& spec) {
  return spec.find_first_of("./\\") == std::string::npos;
}

}  // namespace

Result<Cluster> load_cluster(const std::string& spec) {
  if (auto known = named_cluster(spec)) return *std::move(known);
  auto text = read_whole(spec);
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
