// Shortest remaining (predicted) time first, preemptive: at every event the jobs in order of what
// remains get the devices, each whole or not at all, passing over what does not fit.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_srtf(std::span<const PolicyOption> options);

}  // namespace berth
