// The paper's tables 3 to 5 and 7 for any data set, with the honest figures beside them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "interference/aip.h"
#include "interference/evaluate.h"

namespace berth::report {

[[nodiscard]] nlohmann::ordered_json aip_json(const interference::AipResult& aip);
[[nodiscard]] std::string aip_text(const interference::AipResult& aip);
// With the heat map of pairs, predicted against measured, and coverage.
[[nodiscard]] std::string aip_page(const interference::TrainingSet& set,
                                   const interference::AipResult& aip,
                                   const interference::Evaluation& evaluation);

}  // namespace berth::report
