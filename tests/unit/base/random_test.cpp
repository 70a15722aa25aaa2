#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace berth {
namespace {

// Values pinned for ever: a change here changes every seeded result.
TEST(Rng, ValuesArePinned) {
  Rng rng(42);
  EXPECT_EQ(rng.next_u64(), 1546998764402558742ULL);
  EXPECT_EQ(rng.next_u64(), 6990951692964543102ULL);
  EXPECT_EQ(Rng(42).fork("policy").next_u64(), 1439069576522766271ULL);
  EXPECT_EQ(Rng(42).fork(3).next_u64(), 5628615095747573998ULL);
  EXPECT_EQ(Rng(1).below(1000), 702U);
  EXPECT_EQ(Rng(1).uniform_int(-5, 5), 2);
  EXPECT_DOUBLE_EQ(Rng(1).uniform(), 0.70292183315885048);
  EXPECT_DOUBLE_EQ(Rng(1).normal(), 1.8843961047879769);
  EXPECT_DOUBLE_EQ(Rng(1).log_normal(1, 0.5), 6.9740634925650724);
  EXPECT_DOUBLE_EQ(Rng(1).exponential(2), 0.60687999339499477);
  EXPECT_DOUBLE_EQ(Rng(1).gamma(2.5, 3), 18.877317340173761);
  EXPECT_DOUBLE_EQ(Rng(1).beta(2, 3), 0.78586533971127881);
  EXPECT_EQ(Rng(1).poisson(70), 80U);
  const std::array weights = {1.0, 0.0, 3.0};
  EXPECT_EQ(Rng(1).categorical(weights), 2U);
}

TEST(Rng, BelowStaysBelowAndIsUnbiased) {
  Rng rng(7);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) ++counts.at(rng.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Rng, UniformIntReachesBothEndsOfTheWholeRange) {
  Rng rng(3);
  EXPECT_NO_FATAL_FAILURE((void)rng.uniform_int(INT64_MIN, INT64_MAX));
  bool low = false;
  bool high = false;
  for (int i = 0; i < 200; ++i) {
    const auto value = rng.uniform_int(-1, 1);
    EXPECT_LE(std::abs(value), 1);
    low = low || value == -1;
    high = high || value == 1;
  }
  EXPECT_TRUE(low && high);
}

struct Moments {
  const char* name;
  std::function<double(Rng&)> draw;
  double mean;
  double variance;
};

// Sample mean and variance within five standard errors (of the mean), and 10 % (of the variance).
TEST(Rng, DistributionsHaveTheirMoments) {
  const std::vector<Moments> all = {
      {"uniform", [](Rng& r) { return r.uniform(2, 4); }, 3, 4.0 / 12},
      {"normal", [](Rng& r) { return r.normal(1, 2); }, 1, 4},
      {"log-normal", [](Rng& r) { return r.log_normal(0, 0.5); }, std::exp(0.125),
       (std::exp(0.25) - 1) * std::exp(0.25)},
      {"exponential", [](Rng& r) { return r.exponential(0.5); }, 2, 4},
      {"gamma", [](Rng& r) { return r.gamma(2.5, 3); }, 7.5, 22.5},
      {"gamma below 1", [](Rng& r) { return r.gamma(0.5, 2); }, 1, 2},
      {"beta", [](Rng& r) { return r.beta(2, 3); }, 0.4, 0.04},
      {"poisson", [](Rng& r) { return static_cast<double>(r.poisson(70)); }, 70, 70},
  };
  constexpr int kDraws = 100'000;
  for (const Moments& expected : all) {
    Rng rng = Rng(5).fork(expected.name);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = expected.draw(rng);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, expected.mean, 5 * std::sqrt(expected.variance / kDraws)) << expected.name;
    EXPECT_NEAR(squares / kDraws - mean * mean, expected.variance, 0.1 * expected.variance)
        << expected.name;
  }
}

TEST(Rng, ForksDoNotDependOnEachOther) {
  Rng a(9);
  const std::uint64_t before = a.fork("x").next_u64();
  EXPECT_EQ(a.fork("x").next_u64(), before);
  EXPECT_NE(a.fork("y").next_u64(), before);
}

TEST(Rng, ShuffleKeepsEveryElement) {
  std::vector<int> values(50);
  std::iota(values.begin(), values.end(), 0);
  auto shuffled = values;
  Rng rng(2);
  rng.shuffle(std::span(shuffled));
  EXPECT_NE(shuffled, values);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, values);
}

}  // namespace
}  // namespace berth
