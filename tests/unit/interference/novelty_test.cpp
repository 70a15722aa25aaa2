#include "interference/novelty.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace berth::interference {
namespace {

const std::vector<Feature> kFeatures{
    {"solo.a", Category::kOther, FeatureRole::kSubject, "a"},
    {"solo.b", Category::kOther, FeatureRole::kSubject, "b"},
    {"co.a", Category::kOther, FeatureRole::kPartner, "a"},
    {"sum.a", Category::kOther, FeatureRole::kComposed, "a"},
};

// Subjects at 0, 1, 2, 3, 4 beside partners at 0, 2, 4, 6, 8.
Novelty fitted() {
  Matrix x(25, 4);
  for (Eigen::Index i = 0; i < 25; ++i) {
    const auto subject = static_cast<double>(i / 5);
    const auto partner = static_cast<double>(2 * (i % 5));
    x.row(i) << subject, 0.0, partner, subject + partner;
  }
  Novelty novelty;
  novelty.fit(kFeatures, x);
  return novelty;
}

double of(const Novelty& novelty, std::vector<double> row) {
  return novelty.of(row);
}

TEST(Novelty, CountsInUsualDistancesToTheNearestKnownJob) {
  const Novelty novelty = fitted();
  EXPECT_DOUBLE_EQ(of(novelty, {2, 0, 4, 6}), 0.0);
  EXPECT_DOUBLE_EQ(of(novelty, {2.5, 0, 4, 6}), 0.5);
  EXPECT_DOUBLE_EQ(of(novelty, {4, 3, 4, 8}), 3.0);   // the unit of subjects is 1
  EXPECT_DOUBLE_EQ(of(novelty, {4, 0, 14, 8}), 3.0);  // that of partners 2
  EXPECT_DOUBLE_EQ(of(novelty, {9, 0, 9, 0}), 5.0);   // the stranger side counts
}

TEST(Novelty, ComposedFeaturesDoNotCount) {
  EXPECT_DOUBLE_EQ(of(fitted(), {2, 0, 4, 1000}), 0.0);
}

TEST(Novelty, TrustFallsOnlyBeyondTwoUsualDistances) {
  const Novelty novelty = fitted();
  const auto trust = [&](double b) { return novelty.trust(std::vector<double>{4, b, 4, 8}); };
  EXPECT_DOUBLE_EQ(trust(0), 1.0);
  EXPECT_DOUBLE_EQ(trust(2), 1.0);
  EXPECT_DOUBLE_EQ(trust(4), 0.25);
}

TEST(Novelty, AFewJobsSayNothing) {
  Matrix x(3, 4);
  x << 0, 0, 0, 0, 1, 0, 1, 2, 2, 0, 2, 4;
  Novelty novelty;
  novelty.fit(kFeatures, x);
  EXPECT_DOUBLE_EQ(of(novelty, {1e6, 1e6, 1e6, 0}), 0.0);
}

TEST(Novelty, SurvivesAFileAndADamagedOneIsRefused) {
  nlohmann::json saved;
  fitted().save(saved);
  const auto again = Novelty::load(saved, kFeatures.size());
  ASSERT_TRUE(again);
  EXPECT_DOUBLE_EQ(of(*again, {4, 3, 4, 8}), 3.0);
  EXPECT_FALSE(Novelty::load(saved, 2));
  saved[0]["known"][0] = {1.0};
  EXPECT_FALSE(Novelty::load(saved, kFeatures.size()));
}

}  // namespace
}  // namespace berth::interference
