// The bounded set of models that the selection tries.
#pragma once

#include <vector>

#include "interference/member.h"

namespace berth::interference {

// Those that can see something in these features, in a fixed order.
[[nodiscard]] std::vector<Candidate> make_candidates(std::span<const Feature> features);

}  // namespace berth::interference
