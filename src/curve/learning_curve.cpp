#include "curve/learning_curve.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

// What is left of the way, from 1 at the start down to 0.
double rest(const LearningCurve& curve, std::int64_t iteration) {
  return std::pow(1.0 + static_cast<double>(iteration) / curve.half_iterations, -curve.exponent);
}

}  // namespace

double LearningCurve::loss(std::int64_t iteration) const {
  return final_loss + (first_loss - final_loss) * rest(*this, iteration);
}

double LearningCurve::accuracy(std::int64_t iteration) const {
  double value = last_accuracy - (last_accuracy - first_accuracy) * rest(*this, iteration);
  if (peak_iteration >= 0 && iteration > peak_iteration) {
    value -= decline_per_iteration * static_cast<double>(iteration - peak_iteration);
  }
  return std::clamp(value, 0.0, 1.0);
}

std::int64_t LearningCurve::best_iteration(std::int64_t iterations) const {
  // The sum of a concave rise and a line after a kink is concave: the best is found by halving.
  std::int64_t low = 0;
  std::int64_t high = iterations;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (accuracy(middle) < accuracy(middle + 1)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::int64_t LearningCurve::opt_stop_iteration(std::int64_t iterations) const {
  const std::int64_t step = std::max<std::int64_t>(1, iterations / kOptStopParts);
  for (std::int64_t i = step; i < iterations; i += step) {
    if (accuracy(i) - accuracy(i - step) < kOptStopLeastGain) return i;
  }
  return iterations;
}

std::optional<std::int64_t> LearningCurve::first_reaching(double wanted,
                                                          std::int64_t iterations) const {
  std::int64_t high = best_iteration(iterations);
  if (accuracy(high) < wanted) return std::nullopt;
  std::int64_t low = 0;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (accuracy(middle) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace berth
