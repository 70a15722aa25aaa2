#include "trace/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace berth::trace {
namespace {

TEST(Quantiles, NearestRankAsInSortedValues) {
  Rng rng(4);
  for (const std::size_t n : {1U, 2U, 3U, 10U, 99U, 100U, 101U, 5000U}) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(static_cast<std::int64_t>(rng.below(n / 2 + 1)) - 3);
    }
    std::vector<std::int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Quantiles quantiles = quantiles_of(values, 7);
    EXPECT_EQ(quantiles.known, n);
    EXPECT_EQ(quantiles.unknown, 7U);
    EXPECT_EQ(quantiles.min, sorted.front());
    EXPECT_EQ(quantiles.max, sorted.back());
    for (std::size_t i = 0; i < Quantiles::kPercents.size(); ++i) {
      const auto percent = static_cast<std::size_t>(Quantiles::kPercents[i]);
      EXPECT_EQ(quantiles.at[i], sorted[(n * percent + 99) / 100 - 1]) << n << " p" << percent;
    }
  }
}

TEST(Quantiles, TheMeanIsExactWhereDoublesWouldNotBe) {
  std::vector<std::int64_t> values{1, (std::int64_t{1} << 60) + 1, -(std::int64_t{1} << 60)};
  EXPECT_DOUBLE_EQ(quantiles_of(values, 0).mean, 2.0 / 3.0);
}

TEST(Quantiles, OfNothing) {
  std::vector<std::int64_t> none;
  const Quantiles quantiles = quantiles_of(none, 2);
  EXPECT_EQ(quantiles.known, 0U);
  EXPECT_FALSE(quantiles.min.known());
  EXPECT_FALSE(quantiles.at[0].known());
}

}  // namespace
}  // namespace berth::trace
