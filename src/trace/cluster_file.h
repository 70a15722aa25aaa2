// `--cluster`: a name, a size, or a file that describes a cluster.
#pragma once

#include <string>

#include "base/result.h"
#include "model/cluster.h"

namespace berth::trace {

// A built-in name, "NxG", or the path of a YAML file (docs/cluster.md) or of a list of nodes
// (node_lists.h), told apart by content. Errors name the nearest name or file.
[[nodiscard]] Result<Cluster> load_cluster(const std::string& spec);

}  // namespace berth::trace
