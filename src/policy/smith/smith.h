// Remaining predicted time x GPUs, the least first, preemptive: Smith's rule (W. E. Smith, Naval
// Research Logistics Quarterly 1956: weighted completion time on one machine is least in order of
// time over weight) where a job takes several machines at once, so that what counts is the GPU time
// that it still takes. Two-dimensional like Tiresias, but by what remains instead of what was had.
//
// A job that has outlived its prediction is believed to run on for `outlived` of the time it has
// run. The default, 0, is best where predictions are off by a little: on `paper` with noisy:0.5
// (1,990 jobs, shared, seeds 101-103) mean JCT is 2.50, 2.52, 2.54 h with 0, 0.25, 0.5. Where they
// are off by orders of magnitude, as those from history, whoever has run for days is not about to
// end: 19.2, 16.2, 16.2 h on days 20 to 60 of Philly with 1,300 GPUs.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_smith(std::span<const PolicyOption> options);

}  // namespace berth
