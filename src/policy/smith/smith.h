// Remaining predicted time x GPUs, the least first, preemptive: Smith's rule (W. E. Smith, Naval
// Research Logistics Quarterly 1956: weighted completion time on one machine is least in order of
// time over weight) where a job takes several machines at once, so that what counts is the GPU time
// that it still takes. Two-dimensional like Tiresias, but by what remains instead of what was had.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_smith(std::span<const PolicyOption> options);

}  // namespace berth
