// Gaussian-process regression (Rasmussen and Williams, "Gaussian Processes for Machine Learning",
// 2006, algorithm 2.1) with a Matern 5/2 kernel, a constant factor and white noise, all found by
// the largest marginal likelihood.
//
// Each feature may have a length of its own (automatic relevance determination). With some dozens
// of features and a few hundred rows the likelihood alone would overfit them, so the logarithms of
// the lengths are drawn towards the one length that serves all features best, by a normal prior
// whose standard deviation is the parameter "spread"; spread 0 is one length for all.
//
// The cost is bounded: the search for the kernel looks at `tune_rows` rows at most, the final
// solution at `max_rows`, drawn at random.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo gaussian_process_technique();

}  // namespace berth::interference
