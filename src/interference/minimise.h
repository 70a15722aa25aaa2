// A few parameters, a smooth function with its gradient: BFGS with backtracking.
#pragma once

#include <functional>
#include <span>

namespace berth::interference {

// Value at `at`, gradient into `gradient`; infinity where the function is not defined.
using Objective = std::function<double(std::span<const double> at, std::span<double> gradient)>;

// Improves `at` in place with at most `evaluations` calls; never leaves it worse.
void minimise(std::span<double> at, int evaluations, const Objective& objective);

}  // namespace berth::interference
