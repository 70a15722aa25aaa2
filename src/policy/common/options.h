// Reading --set key=value for a policy.
#pragma once

#include <span>
#include <string_view>

#include "policy/policy.h"

namespace berth {

// For a policy without options: an error naming the first one given.
[[nodiscard]] Status no_options(std::string_view policy, std::span<const PolicyOption> options);

}  // namespace berth
