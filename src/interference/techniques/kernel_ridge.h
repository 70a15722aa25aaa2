// Kernel ridge regression about the mean target, with a Matern kernel of order 3/2: a Gaussian
// process whose length and noise are given instead of sought, so that a fit costs one
// factorisation. Away from all rows it returns to the mean.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

// gamma: gamma_factor times gamma_scale(); the kernel's length is 1 / sqrt(2 gamma), that of the
// RBF kernel exp(-gamma d^2). alpha: added to the diagonal, in units of the target's variance when
// the target is standardised. Above max_rows rows a random part of them is used.
[[nodiscard]] TechniqueInfo kernel_ridge_technique();

}  // namespace berth::interference
