// HyperSched
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_hypersched(
    std::span<const PolicyOption> options);

}  // namespace berth
