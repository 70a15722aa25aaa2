// Strict first come, first served: the head of the queue blocks all behind it.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_fifo(std::span<const PolicyOption> options);

}  // namespace berth
