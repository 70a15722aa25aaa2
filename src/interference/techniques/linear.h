// Multiple linear regression with an intercept: least squares, and of all solutions the one of the
// smallest norm, so that fewer rows than features, or features that depend on each other, are fine.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo linear_technique();

}  // namespace berth::interference
