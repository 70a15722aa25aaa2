// An evaluation of interference models as JSON and as tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "interference/evaluate.h"

namespace berth::report {

[[nodiscard]] nlohmann::ordered_json evaluation_json(const interference::Evaluation& evaluation);
[[nodiscard]] std::string evaluation_text(const interference::Evaluation& evaluation);

}  // namespace berth::report
