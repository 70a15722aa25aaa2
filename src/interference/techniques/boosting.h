// Gradient boosting of regression trees for the squared error (Friedman, "Stochastic gradient
// boosting", 2002): each tree learns what the sum of those before it leaves, from a part of the
// rows drawn without replacement.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo gradient_boosting_technique();

}  // namespace berth::interference
