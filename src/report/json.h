// Figures as JSON, by the contract of the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "base/result.h"
#include "engine/metrics.h"
#include "policy/policy.h"
#include "trace/reject.h"

namespace berth {

[[nodiscard]] nlohmann::ordered_json to_json(const Metrics& metrics);
// The reverse; nothing if a field is missing or of another type.
[[nodiscard]] std::optional<Metrics> metrics_from_json(const nlohmann::ordered_json& json);
// [{"term": name, "value": x}, ...]
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const PriorityTerm> terms);
// {"rejected": n, "rejected_by_reason": {...}, "warnings": {...}, "counts": {...}}
[[nodiscard]] nlohmann::ordered_json to_json(const trace::RejectReport& report);

}  // namespace berth
