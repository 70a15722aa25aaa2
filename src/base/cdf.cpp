#include "base/cdf.h"

#include <algorithm>
#include <cmath>

namespace berth {

double quantile(std::span<const CdfPoint> cdf, double u, Between between) {
  const auto above = std::ranges::upper_bound(cdf, u, {}, &CdfPoint::share);
  if (above == cdf.begin()) return cdf.front().value;
  if (above == cdf.end()) return cdf.back().value;
  const CdfPoint& low = *(above - 1);
  const double part = (u - low.share) / (above->share - low.share);
  if (between == Between::kGeometric) return low.value * std::pow(above->value / low.value, part);
  return low.value + part * (above->value - low.value);
}

}  // namespace berth
