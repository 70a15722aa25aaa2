// Remaining predicted time x GPUs, the least first, preemptive: Smith's rule (W. E. Smith, Naval
// Research Logistics Quarterly 1956: weighted completion time on one machine is least in order of
// time over weight) where a job takes several machines at once, so that what counts is the GPU time
// that it still takes. Two-dimensional like Tiresias, but by what remains instead of what was had.
//
// A job that has outlived its prediction is believed to run on for `outlived` of the time it has run:
// durations spread over orders of magnitude, and whoever has run for days is not about to end. Tried:
// 0, 0.25, 0.5 on days 20 to 60 of Philly with 1,300 GPUs and predictions from history (mean JCT 19.2,
// 16.2, 16.2 h), and on `paper` with noisy:0.5, 1,990 jobs, shared, seeds 101-103 (2.50, 2.52, 2.54
// h).
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_smith(std::span<const PolicyOption> options);

}  // namespace berth
