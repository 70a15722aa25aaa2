// The bounded set of models that the selection tries.
#pragma once

#include <vector>

#include "interference/folds.h"
#include "interference/member.h"

namespace berth::interference {

// Those that can see something in these features, in a fixed order. Latent factors only where the
// jobs are known (kPair).
[[nodiscard]] std::vector<Candidate> make_candidates(std::span<const Feature> features,
                                                     FoldKind kind);

}  // namespace berth::interference
