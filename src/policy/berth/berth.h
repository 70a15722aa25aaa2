#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_berth(std::span<const PolicyOption> options);

}  // namespace berth
