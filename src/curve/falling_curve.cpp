#include "curve/falling_curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "curve/least_squares.h"

namespace berth {
namespace {

constexpr double kTiny = 1e-300;
constexpr double kWorst = std::numeric_limits<double>::infinity();

// Points brought to a common scale: iterations end at 1, values have a range of 1.
struct Scaled {
  double last = 1.0;
  double range = 0.0;
  double least = 0.0;
  std::span<const CurvePoint> points;
};

std::optional<Scaled> scale(std::span<const CurvePoint> points) {
  constexpr std::size_t kFewest = 3;
  if (points.size() < kFewest || !(points.back().iteration > points.front().iteration)) {
    return std::nullopt;
  }
  Scaled out{.last = points.back().iteration, .least = kWorst, .points = points};
  double most = -kWorst;
  for (const CurvePoint& point : points) {
    if (!std::isfinite(point.value)) return std::nullopt;
    out.least = std::min(out.least, point.value);
    most = std::max(most, point.value);
  }
  out.range = most - out.least;
  if (!std::isfinite(out.range) || !(points.front().value > points.back().value)) {
    return std::nullopt;
  }
  return out;
}

// An error of 1 / above is one of above, times above^-2.
double weight_of_inverse(double above) {
  return above * above * above * above;
}

FallingCurve inverse_above(const Scaled& scaled, double floor) {
  LeastSquares<2> squares;
  for (const CurvePoint& point : scaled.points) {
    const double above = (point.value - floor) / scaled.range;
    squares.add({point.iteration / scaled.last, 1.0}, 1.0 / above,
                point.weight * weight_of_inverse(above));
  }
  const auto [linear, constant] = squares.non_negative();
  return {.family = FallingCurve::Family::kInverse,
          .linear = linear / (scaled.last * scaled.range),
          .constant = constant / scaled.range,
          .floor = floor};
}

FallingCurve square_above(const Scaled& scaled, double floor) {
  LeastSquares<3> squares;
  for (const CurvePoint& point : scaled.points) {
    const double x = point.iteration / scaled.last;
    const double above = (point.value - floor) / scaled.range;
    squares.add({x * x, x, 1.0}, 1.0 / above, point.weight * weight_of_inverse(above));
  }
  const auto [square, linear, constant] = squares.non_negative();
  return {.family = FallingCurve::Family::kInverse,
          .square = square / (scaled.last * scaled.last * scaled.range),
          .linear = linear / (scaled.last * scaled.range),
          .constant = constant / scaled.range,
          .floor = floor};
}

FallingCurve geometric_above(const Scaled& scaled, double floor) {
  double weights = 0.0;
  double x_sum = 0.0;
  double y_sum = 0.0;
  double xx_sum = 0.0;
  double xy_sum = 0.0;
  for (const CurvePoint& point : scaled.points) {
    const double x = point.iteration / scaled.last;
    const double above = (point.value - floor) / scaled.range;
    const double y = std::log(above);
    // An error of log(above) is one of above, divided by it.
    const double weight = point.weight * above * above;
    weights += weight;
    x_sum += weight * x;
    y_sum += weight * y;
    xx_sum += weight * x * x;
    xy_sum += weight * x * y;
  }
  const double spread = weights * xx_sum - x_sum * x_sum;
  const double slope =
      spread > kTiny ? std::min(0.0, (weights * xy_sum - x_sum * y_sum) / spread) : 0.0;
  const double start = (y_sum - slope * x_sum) / std::max(weights, kTiny);
  return {.family = FallingCurve::Family::kGeometric,
          .linear = -slope / scaled.last,
          .constant = start + std::log(scaled.range),
          .floor = floor};
}

// The best floor: first among some whose distances to the least value grow by a factor, then by
// golden sections between the neighbours of the best of them.
template <class FitAbove>
std::optional<FallingCurve> search_floor(std::span<const CurvePoint> points,
                                         const FitAbove& fit_above) {
  const auto scaled = scale(points);
  if (!scaled) return std::nullopt;
  constexpr double kNearest = 1.0 / 4096;
  constexpr double kFactor = 4.0;
  constexpr int kRefinements = 9;
  constexpr double kGolden = 0.6180339887498949;
  const double furthest = scaled->least > 0.0 ? scaled->least : scaled->range;
  FallingCurve best;
  double least_error = kWorst;
  const auto error_at = [&](double distance) {
    const FallingCurve curve = fit_above(*scaled, scaled->least - distance);
    const double error = squared_error(curve, points);
    if (error < least_error) {
      least_error = error;
      best = curve;
    }
    return error;
  };
  double best_distance = 0.0;
  for (double distance = std::min(scaled->range, furthest) * kNearest;;) {
    const double before = least_error;
    if (error_at(distance) < before) best_distance = distance;
    if (distance >= furthest) break;
    distance = std::min(kFactor * distance, furthest);
  }
  double low = best_distance / kFactor;
  double high = std::min(kFactor * best_distance, furthest);
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double left_error = error_at(left);
  double right_error = error_at(right);
  for (int i = 0; i < kRefinements; ++i) {
    if (left_error < right_error) {
      high = right;
      right = left;
      right_error = left_error;
      left = high - kGolden * (high - low);
      left_error = error_at(left);
    } else {
      low = left;
      left = right;
      left_error = right_error;
      right = low + kGolden * (high - low);
      right_error = error_at(right);
    }
  }
  if (!(least_error < kWorst)) return std::nullopt;
  return best;
}

}  // namespace

double FallingCurve::at(double iteration) const {
  if (family == Family::kGeometric) return std::exp(constant - linear * iteration) + floor;
  return 1.0 / std::max((square * iteration + linear) * iteration + constant, kTiny) + floor;
}

std::optional<double> FallingCurve::first_at(double value) const {
  if (at(0.0) <= value) return 0.0;
  const double above = value - floor;
  if (!(above > 0.0)) return std::nullopt;
  double where = 0.0;
  if (family == Family::kGeometric) {
    where = linear > 0.0 ? (constant - std::log(above)) / linear : kWorst;
  } else {
    // Of square * i^2 + linear * i = wanted, in the form that loses no digits.
    const double wanted = 1.0 / above - constant;
    const double root = std::sqrt(linear * linear + 4.0 * square * wanted);
    where = 2.0 * wanted / (linear + root);
  }
  if (!std::isfinite(where)) return std::nullopt;
  return where;
}

double squared_error(const FallingCurve& curve, std::span<const CurvePoint> points) {
  double sum = 0.0;
  for (const CurvePoint& point : points) {
    const double error = curve.at(point.iteration) - point.value;
    sum += point.weight * error * error;
  }
  return sum;
}

std::optional<FallingCurve> fit_inverse(std::span<const CurvePoint> points) {
  return search_floor(points, inverse_above);
}

std::optional<FallingCurve> fit_sublinear(std::span<const CurvePoint> points) {
  return search_floor(points, square_above);
}

std::optional<FallingCurve> fit_geometric(std::span<const CurvePoint> points) {
  return search_floor(points, geometric_above);
}

std::optional<FallingCurve> fit_sublinear_or_geometric(std::span<const CurvePoint> points) {
  const auto sublinear = fit_sublinear(points);
  const auto geometric = fit_geometric(points);
  if (!sublinear || !geometric) return sublinear ? sublinear : geometric;
  return squared_error(*geometric, points) < squared_error(*sublinear, points) ? geometric
                                                                               : sublinear;
}

std::int64_t fitted_part(std::int64_t done) {
  constexpr int kSteps = 2;  // 2^2 to each doubling
  if (done < 1 << (kSteps + 1)) return std::max<std::int64_t>(done, 0);
  const int drop = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(done))) - 1 - kSteps;
  return done >> drop << drop;
}

std::vector<std::int64_t> iterations_to_fit(std::int64_t last) {
  std::vector<std::int64_t> out;
  if (last < 0) return out;
  const std::int64_t points = std::min(kFitPoints, last + 1);
  out.reserve(static_cast<std::size_t>(points));
  // Divided first: iterations may be too many to multiply.
  const std::int64_t gaps = std::max<std::int64_t>(points - 1, 1);
  for (std::int64_t k = 0; k < points; ++k) {
    out.push_back(last / gaps * k + last % gaps * k / gaps);
  }
  return out;
}

}  // namespace berth
