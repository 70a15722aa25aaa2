// Lists of machines as sites publish or print them, made into clusters: `scontrol show node`, the
// Philly trace's machine lists, openb's node lists.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"

namespace berth::trace {

// Nothing if `text` does not start as one of these lists; `file` is for messages and becomes the
// cluster's name. Errors: a damaged line, a machine twice, no machine, more GPU types than fit.
[[nodiscard]] std::optional<Result<Cluster>> parse_node_list(std::string_view text,
                                                             std::string_view file);

// The formats, one function each; they take text that starts as theirs.
[[nodiscard]] bool is_scontrol_nodes(std::string_view text);
// Every node counts, in whatever state it is today. GPUs of several types on one node: a server for
// each, with its share of the processors and memory. A MIG slice is a device of its own type.
[[nodiscard]] Result<Cluster> parse_scontrol_nodes(std::string_view text, std::string_view file);

[[nodiscard]] bool is_philly_machines(std::string_view text);
// GPU types are told apart by their memory, where it is given: "12GB", "24GB".
[[nodiscard]] Result<Cluster> parse_philly_machines(std::string_view text, std::string_view file);

[[nodiscard]] bool is_openb_nodes(std::string_view text);
[[nodiscard]] Result<Cluster> parse_openb_nodes(std::string_view text, std::string_view file);

}  // namespace berth::trace
