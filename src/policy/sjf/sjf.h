// Shortest predicted run time first, without preemption; what does not fit is passed over.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_sjf(std::span<const PolicyOption> options);

}  // namespace berth
