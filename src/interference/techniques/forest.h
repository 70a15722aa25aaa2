// A regression tree, and the means of many: random forest (Breiman 2001), extremely randomised
// trees (Geurts et al. 2006), bagging (Breiman 1996).
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo cart_technique();
[[nodiscard]] TechniqueInfo random_forest_technique();
[[nodiscard]] TechniqueInfo extra_trees_technique();
[[nodiscard]] TechniqueInfo bagging_technique();

}  // namespace berth::interference
