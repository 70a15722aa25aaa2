// Results where the user asked for them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

// A file appears whole or not at all; "-" is standard output.
[[nodiscard]] Status write_output(const std::string& path, std::string_view content);

}  // namespace berth::cli
