#include "base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace berth {

double quantile(std::vector<double>& values, double q) {
  const double place = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double at_low = *(values.begin() + low);
  if (low + 1 == static_cast<std::ptrdiff_t>(values.size())) return at_low;
  const double at_high = *std::min_element(values.begin() + low + 1, values.end());
  return at_low + (place - static_cast<double>(low)) * (at_high - at_low);
}

double student_t_975(std::size_t degrees) {
  // The expansion below is off by more than 1e-4 for fewer than 9.
  constexpr std::array kSmall = {12.70620, 4.30265, 3.18245, 2.77645,
                                 2.57058,  2.44691, 2.36462, 2.30600};
  if (degrees <= kSmall.size()) return kSmall.at(degrees - 1);
  // Cornish-Fisher expansion around the normal quantile (Abramowitz and Stegun, 26.7.5).
  const double z = 1.959963984540054;
  const double n = static_cast<double>(degrees);
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + g1 / n + g2 / (n * n) + g3 / (n * n * n) + g4 / (n * n * n * n);
}

MeanInterval mean_interval(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  const auto n = static_cast<double>(values.size());
  const double mean = sum / n;
  if (values.size() < 2) return {mean, mean, mean};
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double half = student_t_975(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

}  // namespace berth
