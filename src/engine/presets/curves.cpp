#include "engine/presets/curves.h"

#include <algorithm>
#include <cmath>

namespace berth::presets {
namespace {

// Too few iterations to tell a peak from the end.
constexpr std::int64_t kFewIterations = 10;

// Lets the curve rise through `accuracy` after `at` iterations; faster than it did, if otherwise it
// would have to head for more than 1.
void pass_through(LearningCurve& curve, double accuracy, std::int64_t at) {
  const auto iterations = static_cast<double>(at);
  const double rest = std::pow(1.0 + iterations / curve.half_iterations, -curve.exponent);
  curve.last_accuracy = (accuracy - curve.first_accuracy * rest) / (1.0 - rest);
  if (curve.last_accuracy <= 1.0) return;
  curve.last_accuracy = 1.0;
  const double wanted = (1.0 - accuracy) / (1.0 - curve.first_accuracy);
  curve.half_iterations = iterations / (std::pow(wanted, -1.0 / curve.exponent) - 1.0);
}

}  // namespace

LearningCurve draw_curve(const CurveShape& shape, std::int64_t iterations, bool peaked, Rng& rng) {
  const auto whole = static_cast<double>(iterations);
  LearningCurve curve;
  curve.half_iterations = shape.half * rng.log_normal(0.0, 0.3) * whole;
  curve.exponent = shape.exponent;
  curve.first_accuracy = shape.first_accuracy;
  // Of the loss no published set tells the scale: cross-entropy of 3 to 1,000 classes at the start.
  curve.first_loss = rng.uniform(1.1, 6.9);
  curve.final_loss = curve.first_loss * rng.uniform(0.01, 0.3);
  const double final_accuracy = shape.final_accuracy + rng.uniform(-0.03, 0.03);
  const double peak_at = quantile(kPeakAt, rng.uniform());
  const double fall = quantile(kFallFromPeak, rng.uniform());
  if (!peaked || iterations < kFewIterations) {
    pass_through(curve, final_accuracy, iterations);
    return curve;
  }
  curve.peak_iteration = std::clamp<std::int64_t>(std::llround(peak_at * whole), 1, iterations - 1);
  pass_through(curve, final_accuracy + fall, curve.peak_iteration);
  // What the rise would still add after the peak, and the fall, are lost until the end.
  const double lost = curve.accuracy(iterations) - curve.accuracy(curve.peak_iteration) + fall;
  curve.decline_per_iteration = lost / static_cast<double>(iterations - curve.peak_iteration);
  return curve;
}

}  // namespace berth::presets
