// What a job's reports say of how it goes on: curves that fall and level off, fitted to a history.
// For losses, and for what an accuracy lacks of 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace berth {

struct FallingCurve {
  enum class Family : std::uint8_t {
    kInverse,    // 1 / (square * i^2 + linear * i + constant) + floor
    kGeometric,  // exp(constant - linear * i) + floor
  };
  Family family = Family::kInverse;
  double square = 0.0;
  double linear = 0.0;
  double constant = 1.0;
  double floor = 0.0;

  [[nodiscard]] double at(double iteration) const;
  // Where it first is at most `value`; nothing if that is never.
  [[nodiscard]] std::optional<double> first_at(double value) const;
};

struct CurvePoint {
  double iteration = 0.0;
  double value = 0.0;
  double weight = 1.0;
};

// Each takes points by rising iteration, at least three of them, and gives nothing if they do not
// fall. Coefficients are not negative; neither is the floor unless values are. A few microseconds
// for 20 points: the floor is searched for, the rest is least squares, weighted so that it is the
// error of the values that counts.

// 1 / (b0 i + b1) + b2 (Optimus, EuroSys 2018, section 3.1, eq. 1).
[[nodiscard]] std::optional<FallingCurve> fit_inverse(std::span<const CurvePoint> points);
// 1 / (a i^2 + b i + c) + d: what converges sublinearly (SLAQ, SoCC 2017, section 3).
[[nodiscard]] std::optional<FallingCurve> fit_sublinear(std::span<const CurvePoint> points);
// mu^(i - b) + c: what converges linearly or faster (SLAQ, section 3).
[[nodiscard]] std::optional<FallingCurve> fit_geometric(std::span<const CurvePoint> points);
// The better of the last two.
[[nodiscard]] std::optional<FallingCurve> fit_sublinear_or_geometric(
    std::span<const CurvePoint> points);

// The weighted sum of squared errors.
[[nodiscard]] double squared_error(const FallingCurve& curve, std::span<const CurvePoint> points);

// The part of a history that is fitted: at most `done` iterations, in steps of a quarter or less,
// so that a fit holds for a while; and it depends on nothing but `done`.
[[nodiscard]] std::int64_t fitted_part(std::int64_t done);
// At most so many iterations of 0..last, equally far from each other, both ends among them.
inline constexpr std::int64_t kFitPoints = 20;
[[nodiscard]] std::vector<std::int64_t> iterations_to_fit(std::int64_t last);

}  // namespace berth
