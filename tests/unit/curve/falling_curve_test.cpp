// Fits against curves whose parameters are known.
#include "curve/falling_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "curve/learning_curve.h"
#include "curve/least_squares.h"

namespace berth {
namespace {

using Family = FallingCurve::Family;

std::vector<CurvePoint> points_of(const FallingCurve& curve, std::int64_t last) {
  std::vector<CurvePoint> points;
  for (const std::int64_t i : iterations_to_fit(last)) {
    const auto at = static_cast<double>(i);
    points.push_back({at, curve.at(at)});
  }
  return points;
}

// x + y = 2, x - y = 0 and 2x + y = 3 are all solved by (1, 1).
TEST(LeastSquares, FindsTheSolution) {
  LeastSquares<2> squares;
  squares.add({1, 1}, 2);
  squares.add({1, -1}, 0);
  squares.add({2, 1}, 3);
  const auto x = squares.non_negative();
  EXPECT_NEAR(x[0], 1.0, 1e-12);
  EXPECT_NEAR(x[1], 1.0, 1e-12);
}

// y = 3 - t at t = 0, 1, 2: without the bound the slope would be -1. With slope 0 the best constant
// is the mean, 2; weights 1, 1, 4 make it (3 + 2 + 4) / 6.
TEST(LeastSquares, NegativeUnknownsBecomeNone) {
  for (const double weight : {1.0, 4.0}) {
    LeastSquares<2> squares;
    squares.add({1, 0}, 3);
    squares.add({1, 1}, 2);
    squares.add({1, 2}, 1, weight);
    const auto x = squares.non_negative();
    EXPECT_NEAR(x[0], weight == 1.0 ? 2.0 : 1.5, 1e-12);
    EXPECT_EQ(x[1], 0.0);
  }
}

// Two unknowns that stand for the same: one of them does.
TEST(LeastSquares, SingularSystems) {
  LeastSquares<2> squares;
  squares.add({1, 1}, 2);
  squares.add({2, 2}, 4);
  const auto x = squares.non_negative();
  EXPECT_NEAR(x[0] + x[1], 2.0, 1e-9);
  EXPECT_EQ(LeastSquares<3>().non_negative(), (std::array<double, 3>{}));
}

// No non-negative point nearby is better than what is found.
TEST(LeastSquares, IsOptimal) {
  Rng rng(5);
  for (int trial = 0; trial < 200; ++trial) {
    LeastSquares<3> squares;
    std::vector<std::array<double, 4>> rows;
    for (int r = 0; r < 6; ++r) {
      rows.push_back({rng.normal(), rng.normal(), rng.normal(), rng.normal()});
      squares.add({rows[r][0], rows[r][1], rows[r][2]}, rows[r][3]);
    }
    const auto sum_of = [&](const std::array<double, 3>& x) {
      double sum = 0;
      for (const auto& row : rows) {
        const double error = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] - row[3];
        sum += error * error;
      }
      return sum;
    };
    const auto best = squares.non_negative();
    for (int k = 0; k < 50; ++k) {
      auto other = best;
      for (double& value : other) value = std::max(0.0, value + rng.normal(0, 0.05));
      EXPECT_LE(sum_of(best), sum_of(other) + 1e-12);
    }
  }
}

TEST(FallingCurve, InverseParametersAreFound) {
  const FallingCurve truth{.linear = 0.02, .constant = 0.3, .floor = 0.8};
  const auto fitted = fit_inverse(points_of(truth, 400));
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->linear, 0.02, 1e-4);
  EXPECT_NEAR(fitted->constant, 0.3, 1e-3);
  EXPECT_NEAR(fitted->floor, 0.8, 1e-3);
  EXPECT_NEAR(fitted->at(4000), truth.at(4000), 1e-3);
}

TEST(FallingCurve, SublinearParametersAreFound) {
  const FallingCurve truth{.square = 1e-4, .linear = 0.01, .constant = 0.5, .floor = 0.1};
  const auto points = points_of(truth, 300);
  const auto fitted = fit_sublinear(points);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->floor, 0.1, 2e-3);
  EXPECT_NEAR(fitted->at(600), truth.at(600), 2e-3);
  EXPECT_LT(squared_error(*fitted, points), 1e-7);
}

TEST(FallingCurve, GeometricParametersAreFound) {
  const FallingCurve truth{
      .family = Family::kGeometric, .linear = 0.03, .constant = std::log(2.0), .floor = 0.5};
  const auto points = points_of(truth, 100);
  const auto fitted = fit_geometric(points);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->linear, 0.03, 1e-4);
  EXPECT_NEAR(fitted->floor, 0.5, 1e-3);
  EXPECT_EQ(fit_sublinear_or_geometric(points)->family, Family::kGeometric);
}

// The curves that the simulator draws have other exponents than 1: after a third of the way the
// value at the end is known to a few parts of the whole fall.
TEST(FallingCurve, PowerLawsAreExtrapolated) {
  for (const double exponent : {0.6, 1.0, 1.6}) {
    const LearningCurve truth{
        .first_loss = 4.0, .final_loss = 0.5, .half_iterations = 60, .exponent = exponent};
    std::vector<CurvePoint> points;
    for (const std::int64_t i : iterations_to_fit(330)) {
      points.push_back({static_cast<double>(i), truth.loss(i)});
    }
    for (const auto& fitted : {fit_inverse(points), fit_sublinear_or_geometric(points)}) {
      ASSERT_TRUE(fitted);
      EXPECT_NEAR(fitted->at(1000), truth.loss(1000), 0.1 * (4.0 - 0.5)) << exponent;
    }
  }
}

TEST(FallingCurve, WhereAValueIsReached) {
  const FallingCurve inverse{.linear = 0.5, .constant = 0.25, .floor = 1.0};
  EXPECT_NEAR(inverse.first_at(2.0).value(), 1.5, 1e-12);  // 1 / (0.75 + 0.25) + 1
  EXPECT_EQ(inverse.first_at(5.0), 0.0);
  EXPECT_EQ(inverse.first_at(1.0), std::nullopt);
  const FallingCurve square{.square = 2.0, .constant = 1.0};
  EXPECT_NEAR(square.first_at(1.0 / 33.0).value(), 4.0, 1e-12);
  const FallingCurve geometric{.family = Family::kGeometric, .linear = 0.5, .constant = 0.0};
  EXPECT_NEAR(geometric.first_at(std::exp(-2.0)).value(), 4.0, 1e-12);
  const FallingCurve flat{.family = Family::kGeometric, .linear = 0.0, .constant = 0.0};
  EXPECT_EQ(flat.first_at(0.5), std::nullopt);
}

TEST(FallingCurve, WhatDoesNotFallIsNotFitted) {
  const std::vector<CurvePoint> rising{{0, 1}, {1, 2}, {2, 3}};
  const std::vector<CurvePoint> flat{{0, 1}, {1, 1}, {2, 1}};
  const std::vector<CurvePoint> few{{0, 2}, {1, 1}};
  const std::vector<CurvePoint> broken{{0, 2}, {1, std::nan("")}, {2, 1}};
  const std::vector<CurvePoint> huge{{0, 1e308}, {1, 0}, {2, -1e308}};
  for (const auto& points : {rising, flat, few, broken, huge}) {
    EXPECT_FALSE(fit_inverse(points));
    EXPECT_FALSE(fit_sublinear_or_geometric(points));
  }
}

// Whatever is fitted has finite values everywhere, and does not rise.
TEST(FallingCurve, FitsAreFiniteAndFall) {
  Rng rng(11);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<CurvePoint> points;
    double at = 0;
    for (std::uint64_t n = 3 + rng.below(18); n > 0; --n) {
      points.push_back({at, rng.normal() * std::pow(10.0, rng.uniform(-8, 8)), rng.uniform()});
      at += 1.0 + static_cast<double>(rng.below(1'000'000));
    }
    for (const auto& fitted : {fit_inverse(points), fit_sublinear(points), fit_geometric(points)}) {
      if (!fitted) continue;
      double before = fitted->at(1);
      for (double i = 1; i < 1e9; i *= 3) {
        ASSERT_TRUE(std::isfinite(fitted->at(i))) << trial;
        ASSERT_LE(fitted->at(i), before) << trial;
        before = fitted->at(i);
      }
    }
  }
}

TEST(FallingCurve, TheFittedPartGrowsInSteps) {
  EXPECT_EQ(fitted_part(0), 0);
  EXPECT_EQ(fitted_part(7), 7);
  EXPECT_EQ(fitted_part(9), 8);
  EXPECT_EQ(fitted_part(1000), 896);
  EXPECT_EQ(fitted_part(1023), 896);
  EXPECT_EQ(fitted_part(1024), 1024);
  for (std::int64_t done = 1; done < 5000; ++done) {
    EXPECT_LE(fitted_part(done), done);
    EXPECT_GT(fitted_part(done) * 5, done * 4 - 5);
    EXPECT_EQ(fitted_part(fitted_part(done)), fitted_part(done));
  }
}

TEST(FallingCurve, IterationsToFitAreSpreadEvenly) {
  EXPECT_EQ(iterations_to_fit(2), (std::vector<std::int64_t>{0, 1, 2}));
  const auto many = iterations_to_fit(1'000'000'000'000'000'000);
  EXPECT_EQ(many.size(), 20U);
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 1'000'000'000'000'000'000);
  EXPECT_TRUE(iterations_to_fit(-1).empty());
  for (std::size_t k = 1; k < many.size(); ++k) EXPECT_GT(many[k], many[k - 1]);
}

}  // namespace
}  // namespace berth
