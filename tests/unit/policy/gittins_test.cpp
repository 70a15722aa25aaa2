#include "policy/tiresias/gittins.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Gittins, LevelsAreHalfOctavesFromOneSecond) {
  EXPECT_EQ(GittinsIndex::level(0.0), 0U);
  EXPECT_EQ(GittinsIndex::level(0.99), 0U);
  EXPECT_EQ(GittinsIndex::level(1.0), 1U);
  EXPECT_EQ(GittinsIndex::level(1.42), 2U);
  EXPECT_EQ(GittinsIndex::level(2.0), 3U);
  EXPECT_EQ(GittinsIndex::level(1e300), GittinsIndex::kLevels - 1);
}

// All take 8 GPU-seconds (level 7): who has had nothing ends within 8, G = 1/8; who has had 4
// within 4, G = 1/4; who has had 16 is beyond all that is known.
TEST(Gittins, OneKnownService) {
  GittinsIndex index;
  for (int i = 0; i < 5; ++i) index.add(8.0);
  EXPECT_DOUBLE_EQ(index.at(0), 1.0 / 8);
  EXPECT_DOUBLE_EQ(index.at(GittinsIndex::level(4.0)), 1.0 / 4);
  EXPECT_EQ(index.at(GittinsIndex::level(16.0)), 0.0);
}

// Half take 1, half 1,000 GPU-seconds. New: half end within the bucket of 1, [1, 1.41], for at most
// 0.5 x 1 + 0.5 x sqrt(2) each: G = 0.5 / 1.207. Who has had 2 has 998 to go for certain.
TEST(Gittins, ShortOnesFirstAndLongOnesLater) {
  GittinsIndex index;
  for (int i = 0; i < 10; ++i) {
    index.add(1.0);
    index.add(1000.0);
  }
  EXPECT_NEAR(index.at(0), 0.5 / 1.2071, 1e-4);
  EXPECT_NEAR(index.at(GittinsIndex::level(2.0)), 1.0 / 998, 1e-9);
  EXPECT_GT(index.at(GittinsIndex::level(512.0)), index.at(GittinsIndex::level(2.0)));
}

}  // namespace
}  // namespace berth
