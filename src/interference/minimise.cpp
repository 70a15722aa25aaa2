#include "interference/minimise.h"

#include <Eigen/Core>
#include <cmath>

namespace berth::interference {
namespace {

constexpr double kSufficient = 1e-4;  // Armijo
constexpr double kFlat = 1e-4;        // gain and gradient below which the search ends
constexpr double kLongestStep = 2.0;  // in log parameters: a factor of 7

std::span<double> view(Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

}  // namespace

// Nocedal and Wright 2006, algorithm 6.1, with the scaling of eq. 6.20 before the first update.
void minimise(std::span<double> at, int evaluations, const Objective& objective) {
  const auto n = static_cast<Eigen::Index>(at.size());
  Eigen::VectorXd x = Eigen::Map<Eigen::VectorXd>(at.data(), n);
  Eigen::VectorXd gradient(n);
  double value = objective(view(x), view(gradient));
  --evaluations;
  if (!std::isfinite(value)) return;
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  bool scaled = false;
  Eigen::VectorXd next_gradient(n);
  while (evaluations > 0 && gradient.cwiseAbs().maxCoeff() > kFlat) {
    Eigen::VectorXd step = -(inverse * gradient);
    if (step.dot(gradient) >= 0) {
      inverse.setIdentity();
      step = -gradient;
    }
    const double longest = step.cwiseAbs().maxCoeff();
    if (longest > kLongestStep) step *= kLongestStep / longest;
    if (!scaled) step *= std::min(1.0, 1.0 / longest);

    double length = 1.0;
    double next_value = value;
    Eigen::VectorXd next = x;
    bool accepted = false;
    while (evaluations > 0 && !accepted && length > 1e-4) {
      next = x + length * step;
      next_value = objective(view(next), view(next_gradient));
      --evaluations;
      accepted = next_value <= value + kSufficient * length * step.dot(gradient);
      length *= 0.35;
    }
    if (!accepted) break;
    const Eigen::VectorXd s = next - x;
    const Eigen::VectorXd y = next_gradient - gradient;
    const double curvature = s.dot(y);
    if (curvature > 1e-10) {
      if (!scaled) inverse *= curvature / y.squaredNorm();
      scaled = true;
      const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(n, n) - s * y.transpose() / curvature;
      inverse = left * inverse * left.transpose() + s * s.transpose() / curvature;
    }
    const double gain = value - next_value;
    x = next;
    value = next_value;
    gradient = next_gradient;
    if (gain < kFlat) break;
  }
  Eigen::Map<Eigen::VectorXd>(at.data(), n) = x;
}

}  // namespace berth::interference
