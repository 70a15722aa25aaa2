#include "interference/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace berth::interference {
namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double rank = 0.5 * static_cast<double>(i + end - 1);
    for (; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace

ErrorMeasures measure_errors(std::span<const double> measured, std::span<const double> predicted) {
  const auto n = static_cast<double>(measured.size());
  const double mean = mean_of(measured);
  double absolute = 0;
  double squares = 0;
  double total = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i] - measured[i];
    absolute += std::abs(error);
    squares += error * error;
    total += (measured[i] - mean) * (measured[i] - mean);
  }
  ErrorMeasures out{absolute / n, std::sqrt(squares / n), std::nullopt};
  if (total > 0) out.r2 = 1.0 - squares / total;
  return out;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 3) return 0;
  const auto ra = mid_ranks(a);
  const auto rb = mid_ranks(b);
  const double middle = 0.5 * static_cast<double>(a.size() - 1);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < ra.size(); ++i) {
    ab += (ra[i] - middle) * (rb[i] - middle);
    aa += (ra[i] - middle) * (ra[i] - middle);
    bb += (rb[i] - middle) * (rb[i] - middle);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0.0;
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace berth::interference
