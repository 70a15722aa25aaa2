#include "interference/techniques/minimise.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace berth::interference {
namespace {

constexpr std::size_t kMemory = 8;
constexpr int kMaxHalvings = 12;
constexpr double kSufficientDecrease = 1e-4;

struct Step {
  Vector move;
  Vector change;  // of the gradient
  double curvature;
};

// The quasi-Newton direction downhill from a gradient.
Vector direction(const std::deque<Step>& steps, const Vector& gradient) {
  Vector result = -gradient;
  std::vector<double> factors(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {
    factors[i] = steps[i].move.dot(result) / steps[i].curvature;
    result -= factors[i] * steps[i].change;
  }
  if (!steps.empty()) result *= steps.back().curvature / steps.back().change.squaredNorm();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double factor = steps[i].change.dot(result) / steps[i].curvature;
    result += (factors[i] - factor) * steps[i].move;
  }
  return result;
}

// The gradient without the variables that it pushes against a bound.
Vector free_part(const Vector& gradient, const Vector& point, const Vector& low,
                 const Vector& high) {
  Vector result = gradient;
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const bool held =
        (point[i] <= low[i] && gradient[i] > 0.0) || (point[i] >= high[i] && gradient[i] < 0.0);
    if (held) result[i] = 0.0;
  }
  return result;
}

class Search {
 public:
  Search(const Objective& objective, const Vector& low, const Vector& high,
         const MinimiseOptions& options)
      : objective_(objective), low_(low), high_(high), options_(options) {}

  Minimum run(Vector start) {
    best_.point = start.cwiseMax(low_).cwiseMin(high_);
    gradient_.setZero(start.size());
    best_.value = evaluate(best_.point, gradient_);
    while (best_.evaluations < options_.max_evaluations && std::isfinite(best_.value)) {
      const Vector slope = free_part(gradient_, best_.point, low_, high_);
      if (slope.cwiseAbs().maxCoeff() <= options_.gradient_tolerance) break;
      if (!advance(slope)) break;
    }
    return best_;
  }

 private:
  double evaluate(const Vector& point, Vector& gradient) {
    ++best_.evaluations;
    const double value = objective_(point, gradient);
    return std::isfinite(value) && gradient.allFinite() ? value : HUGE_VAL;
  }

  [[nodiscard]] Vector next_direction(const Vector& slope) {
    Vector way = direction(steps_, slope);
    for (Eigen::Index i = 0; i < way.size(); ++i) way[i] = slope[i] == 0.0 ? 0.0 : way[i];
    if (!(way.dot(slope) < 0.0)) {
      steps_.clear();
      way = -slope;
    }
    if (steps_.empty()) way /= std::max(1.0, slope.norm());
    const double longest = way.cwiseAbs().maxCoeff();
    return longest > options_.max_step ? Vector(way * (options_.max_step / longest)) : way;
  }

  // One step downhill; false when there is none, or it was the last one worth taking.
  bool advance(const Vector& slope) {
    const Vector way = next_direction(slope);
    Vector gradient = gradient_;
    double length = 1.0;
    for (int halving = 0; halving < kMaxHalvings; ++halving, length /= 2.0) {
      if (best_.evaluations >= options_.max_evaluations) return false;
      const Vector point = (best_.point + length * way).cwiseMax(low_).cwiseMin(high_);
      const double value = evaluate(point, gradient);
      const double wanted = kSufficientDecrease * gradient_.dot(point - best_.point);
      if (value <= best_.value + std::min(wanted, 0.0)) return accept(point, value, gradient);
    }
    return false;
  }

  bool accept(const Vector& point, double value, const Vector& gradient) {
    Step step{point - best_.point, gradient - gradient_, 0.0};
    step.curvature = step.move.dot(step.change);
    if (step.curvature > 1e-10 * step.move.norm() * step.change.norm()) {
      steps_.push_back(std::move(step));
      if (steps_.size() > kMemory) steps_.pop_front();
    }
    const double gained = best_.value - value;
    const bool worth_it = gained > options_.relative_decrease * (1.0 + std::abs(value));
    best_.point = point;
    best_.value = value;
    gradient_ = gradient;
    return worth_it;
  }

  const Objective& objective_;
  const Vector& low_;
  const Vector& high_;
  const MinimiseOptions& options_;
  Minimum best_;
  Vector gradient_;
  std::deque<Step> steps_;
};

}  // namespace

Minimum minimise(const Objective& objective, Vector start, const Vector& low, const Vector& high,
                 const MinimiseOptions& options) {
  return Search(objective, low, high, options).run(std::move(start));
}

}  // namespace berth::interference
