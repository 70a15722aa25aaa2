// A cluster described in YAML (docs/cluster.md).
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/cluster.h"

namespace berth::trace {

// `file` is for messages, and the cluster's name if the text gives none. Errors: not YAML, more
// than one document, a key unknown or twice, a value out of range, two servers of one name.
[[nodiscard]] Result<Cluster> parse_cluster_yaml(std::string_view text, std::string_view file);

}  // namespace berth::trace
