// AdaBoost.R2 (Drucker, "Improving regressors using boosting techniques", 1997) over regression
// trees, with the linear loss: each tree learns from rows drawn by weight, the weight of rows that
// it gets wrong grows, and the weighted median of the trees decides.
#pragma once

#include <span>
#include <utility>

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo adaboost_r2_technique();

// The smallest value at which the weights of it and of all smaller values reach half of their sum;
// sorts the pairs (value, weight). Not empty.
[[nodiscard]] double weighted_median(std::span<std::pair<double, double>> values);

}  // namespace berth::interference
