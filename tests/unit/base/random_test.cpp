#include "base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace berth {
namespace {

TEST(Rng, BelowStaysBelowAndIsUnbiased) {
  Rng rng(7);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) ++counts.at(rng.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace berth
