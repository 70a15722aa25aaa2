// Support-vector regression (epsilon-insensitive loss) by libsvm, with its settings as scikit-learn
// has them: tolerance 1e-3, 200 MB of cache, shrinking, gamma = 1/(features * variance of all
// cells). libsvm stops after ten million steps at the latest, converged or not.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo svr_linear_technique();
// (gamma x.z)^degree: no constant term inside, degree 3 unless set.
[[nodiscard]] TechniqueInfo svr_poly_technique();
[[nodiscard]] TechniqueInfo svr_rbf_technique();

}  // namespace berth::interference
