// Distributions given by some of their points, as published quantiles are.
#pragma once

#include <span>

namespace berth {

// A point of a distribution: the share of values <= `value`.
struct CdfPoint {
  double share;
  double value;
};

enum class Between { kLinear, kGeometric };  // geometric: in the logarithm, for positive values

// The value below which a share `u` of the distribution lies. Points by share, at least one.
[[nodiscard]] double quantile(std::span<const CdfPoint> cdf, double u,
                              Between between = Between::kLinear);

}  // namespace berth
