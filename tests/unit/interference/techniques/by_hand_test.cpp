// Cases small enough to be worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "interference/technique.h"
#include "interference/techniques/adaboost.h"
#include "interference/techniques/minimise.h"
#include "interference/techniques/tree.h"

namespace berth::interference {
namespace {

Matrix column(std::initializer_list<double> values) {
  Matrix x(std::ssize(values), 1);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

Vector vector(std::initializer_list<double> values) {
  Vector y(std::ssize(values));
  std::copy(values.begin(), values.end(), y.data());
  return y;
}

std::unique_ptr<Regressor> fitted(std::string_view name, const Params& params, const Matrix& x,
                                  const Vector& y) {
  auto model = find_technique(name)->make(params);
  EXPECT_TRUE(model->fit(x, y, Rng(1)));
  return model;
}

double at(const Regressor& model, std::vector<double> row) {
  return model.predict(row);
}

TEST(Linear, TwoPointsMakeALine) {
  const auto model = fitted("linear", {}, column({1.0, 3.0}), vector({5.0, 9.0}));
  EXPECT_NEAR(at(*model, {2.0}), 7.0, 1e-12);
  EXPECT_NEAR(at(*model, {10.0}), 23.0, 1e-12);
}

TEST(Linear, ColumnsThatAreTheSameShareTheWeight) {
  Matrix x(3, 2);
  x << 0, 0, 1, 1, 2, 2;
  const auto model = fitted("linear", {}, x, vector({1.0, 3.0, 5.0}));
  EXPECT_NEAR(at(*model, {1.0, 0.0}), 2.0, 1e-12);
  EXPECT_NEAR(at(*model, {0.0, 1.0}), 2.0, 1e-12);
}

TEST(SupportVectors, AnErrorBelowEpsilonCostsNothing) {
  // The flattest line that stays within 0.5 of both points has slope (1 - 2 * 0.5) / 1 = 0.
  const auto model = fitted("svr-linear", {{"C", 100.0}, {"epsilon", 0.5}}, column({0.0, 1.0}),
                            vector({0.0, 1.0}));
  EXPECT_NEAR(at(*model, {0.0}), 0.5, 1e-3);
  EXPECT_NEAR(at(*model, {5.0}), 0.5, 1e-2);
}

TEST(Knn, WeightsByTheInverseOfTheDistance) {
  const auto model = fitted("knn", {{"k", 2.0}}, column({0.0, 3.0, 9.0}), vector({3.0, 6.0, 0.0}));
  EXPECT_NEAR(at(*model, {1.0}), (3.0 / 1.0 + 6.0 / 2.0) / (1.0 / 1.0 + 1.0 / 2.0), 1e-12);
}

TEST(Knn, RowsAtDistanceZeroDecideAlone) {
  const auto model =
      fitted("knn", {{"k", 3.0}}, column({1.0, 1.0, 2.0}), vector({4.0, 6.0, 100.0}));
  EXPECT_EQ(at(*model, {1.0}), 5.0);
}

TEST(Knn, OfRowsEquallyFarTheEarlierCounts) {
  const auto model = fitted("knn", {{"k", 1.0}}, column({-1.0, 1.0}), vector({7.0, 8.0}));
  EXPECT_EQ(at(*model, {0.0}), 7.0);
}

TEST(Knn, MoreNeighboursThanRowsAreAllRows) {
  const auto model = fitted("knn", {{"k", 64.0}}, column({-1.0, 1.0}), vector({7.0, 9.0}));
  EXPECT_EQ(at(*model, {0.0}), 8.0);
}

TEST(Cart, SplitsInTheMiddleBetweenTheTwoGroups) {
  const auto model = fitted("cart", {{"min_samples_leaf", 1.0}, {"max_depth", 1.0}},
                            column({1.0, 2.0, 6.0, 7.0}), vector({1.0, 3.0, 10.0, 12.0}));
  EXPECT_EQ(at(*model, {4.0}), 2.0);  // the threshold itself goes left
  EXPECT_EQ(at(*model, {4.0001}), 11.0);
}

TEST(Cart, ALeafHasItsLeastNumberOfRows) {
  // The best split would cut off the last row.
  const auto model = fitted("cart", {{"min_samples_leaf", 2.0}}, column({1.0, 2.0, 3.0, 4.0}),
                            vector({0.0, 0.0, 0.0, 8.0}));
  EXPECT_EQ(at(*model, {2.4}), 0.0);
  EXPECT_EQ(at(*model, {2.6}), 4.0);
}

TEST(Cart, TakesTheFeatureThatExplainsMore) {
  Matrix x(4, 2);
  x << 0, 0, 1, 0, 0, 1, 1, 1;
  const auto model = fitted("cart", {{"min_samples_leaf", 1.0}, {"max_depth", 1.0}}, x,
                            vector({0.0, 1.0, 10.0, 11.0}));
  EXPECT_EQ(at(*model, {0.0, 0.0}), 0.5);
  EXPECT_EQ(at(*model, {1.0, 1.0}), 10.5);
}

TEST(Tree, WeightsCountLikeCopiesOfARow) {
  const Matrix x = column({1.0, 2.0});
  const TreeData data(x);
  TreeBuilder builder(data, {.max_depth = 0});
  Rng rng(1);
  const std::vector<double> targets = {1.0, 4.0};
  const std::vector<double> weights = {2.0, 1.0};
  const Tree tree = builder.build(targets, weights, rng);
  ASSERT_EQ(tree.nodes().size(), 1U);
  EXPECT_EQ(tree.nodes()[0].value, 2.0);
}

TEST(Tree, ARowOfWeightZeroIsNotThere) {
  const Matrix x = column({1.0, 2.0, 3.0});
  const TreeData data(x);
  TreeBuilder builder(data, {});
  Rng rng(1);
  const std::vector<double> targets = {1.0, 50.0, 3.0};
  const std::vector<double> weights = {1.0, 0.0, 1.0};
  const Tree tree = builder.build(targets, weights, rng);
  ASSERT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(tree.nodes()[0].value, 2.0);
}

TEST(Tree, WalkingAbreastSumsWhatSingleTreesSay) {
  Rng rng(2);
  Matrix x(50, 3);
  for (double& value : std::span(x.data(), static_cast<std::size_t>(x.size())))
    value = rng.normal();
  const Vector y = x.col(0).cwiseProduct(x.col(1));
  const TreeData data(x);
  TreeBuilder builder(data, {.random_thresholds = true});
  const std::vector<double> weights(50, 1.0);
  std::vector<Tree> trees;
  for (int i = 0; i < 19; ++i) trees.push_back(builder.build({y.data(), 50}, weights, rng));
  const std::vector<double> row = {0.3, -0.2, 0.1};
  double sum = 0.0;
  for (const auto& tree : trees) sum += tree.predict(row);
  EXPECT_NEAR(sum_of_predictions(trees, row), sum, 1e-12);
}

TEST(AdaBoost, TheMedianIsWhereHalfOfTheWeightIsReached) {
  std::vector<std::pair<double, double>> values = {{5.0, 1.0}, {1.0, 1.0}, {3.0, 1.0}};
  EXPECT_EQ(weighted_median(values), 3.0);
  values = {{5.0, 4.0}, {1.0, 1.0}, {3.0, 1.0}};
  EXPECT_EQ(weighted_median(values), 5.0);
  values = {{2.0, 1.0}, {1.0, 1.0}};
  EXPECT_EQ(weighted_median(values), 1.0);
  values = {{4.0, 0.0}};
  EXPECT_EQ(weighted_median(values), 4.0);
}

TEST(GradientBoosting, OneFullStepOfAStumpIsTheSplitsMeans) {
  const auto model =
      fitted("gradient-boosting",
             {{"trees", 1.0}, {"learning_rate", 1.0}, {"subsample", 1.0}, {"max_depth", 1.0}},
             column({1.0, 2.0, 6.0, 7.0}), vector({1.0, 3.0, 10.0, 12.0}));
  EXPECT_NEAR(at(*model, {0.0}), 2.0, 1e-12);
  EXPECT_NEAR(at(*model, {9.0}), 11.0, 1e-12);
}

TEST(KernelRidge, OneRowPullsItsNeighbourhoodFromTheMeanByItsWeight) {
  // Two far rows: each weight is its distance from the mean target over 1 + alpha.
  const auto model = fitted("kernel-ridge", {{"alpha", 0.25}, {"gamma_factor", 1e6}},
                            column({0.0, 10.0}), vector({1.0, 3.0}));
  EXPECT_NEAR(at(*model, {0.0}), 2.0 - 1.0 / 1.25, 1e-12);
  EXPECT_NEAR(at(*model, {10.0}), 2.0 + 1.0 / 1.25, 1e-12);
  EXPECT_NEAR(at(*model, {5.0}), 2.0, 1e-12);  // the mean, away from both
}

TEST(GaussianProcess, GoesThroughPointsWithoutNoise) {
  Matrix x(12, 1);
  Vector y(12);
  for (Eigen::Index i = 0; i < 12; ++i) {
    x(i, 0) = static_cast<double>(i) / 3.0 - 2.0;
    y[i] = std::sin(x(i, 0));
  }
  const auto model = fitted("gaussian-process", {}, x, y);
  EXPECT_NEAR(at(*model, {x(4, 0)}), y[4], 1e-2);
  EXPECT_NEAR(at(*model, {0.5}), std::sin(0.5), 2e-2);
  EXPECT_NEAR(at(*model, {1e6}), y.mean(), 1e-9);  // far away it knows nothing but the mean
}

TEST(GaussianProcess, FindsTheFeatureThatMatters) {
  Rng rng(4);
  Matrix x(60, 4);
  for (double& value : std::span(x.data(), static_cast<std::size_t>(x.size())))
    value = rng.normal();
  const Vector y = (2.0 * x.col(0).array()).sin();
  const auto model = fitted("gaussian-process", {{"spread", 2.0}}, x, y);
  nlohmann::json saved;
  model->save(saved);
  const auto lengths = saved["lengths"].get<std::vector<double>>();
  for (std::size_t i = 1; i < lengths.size(); ++i) EXPECT_LT(3.0 * lengths[0], lengths[i]);
}

TEST(Minimise, FindsTheMinimumOfRosenbrocksValley) {
  const Objective valley = [](const Vector& p, Vector& gradient) {
    const double a = 1.0 - p[0];
    const double b = p[1] - p[0] * p[0];
    gradient << -2.0 * a - 400.0 * p[0] * b, 200.0 * b;
    return a * a + 100.0 * b * b;
  };
  const auto found =
      minimise(valley, vector({-1.2, 1.0}), vector({-5.0, -5.0}), vector({5.0, 5.0}),
               {.max_evaluations = 200, .gradient_tolerance = 1e-8, .relative_decrease = 1e-14});
  EXPECT_NEAR(found.point[0], 1.0, 1e-5);
  EXPECT_NEAR(found.point[1], 1.0, 1e-5);
}

TEST(Minimise, StopsAtTheBound) {
  const Objective bowl = [](const Vector& p, Vector& gradient) {
    gradient = 2.0 * p;
    return p.squaredNorm();
  };
  const auto found =
      minimise(bowl, vector({3.0, 3.0}), vector({1.0, -1.0}), vector({4.0, 4.0}), {});
  EXPECT_EQ(found.point[0], 1.0);
  EXPECT_NEAR(found.point[1], 0.0, 1e-3);
}

TEST(Minimise, AnObjectiveWithoutAValueLeavesTheStart) {
  const Objective nothing = [](const Vector&, Vector&) { return std::nan(""); };
  const auto found = minimise(nothing, vector({3.0}), vector({1.0}), vector({4.0}), {});
  EXPECT_EQ(found.point[0], 3.0);
  EXPECT_EQ(found.evaluations, 1);
}

}  // namespace
}  // namespace berth::interference
