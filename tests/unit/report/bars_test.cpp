#include "report/bars.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace berth {
namespace {

// The longest is 4 columns; a half is 2; an eighth of 4 columns is 4 eighths of one; hardly
// anything is an eighth of a column.
TEST(Bars, LengthsAreInProportion) {
  const std::vector<Bar> bars{
      {"a", 8, "8 s"}, {"long", 4, "4 s"}, {"b", 1, "1 s"}, {"c", 1e-9, "0"}};
  EXPECT_EQ(bars_text(bars, 4),
            "a     ████ 8 s\n"
            "long  ██ 4 s\n"
            "b     ▌ 1 s\n"
            "c     ▏ 0\n");
}

TEST(Bars, WhatHasNoLengthHasNoBar) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Bar> bars{{"a", 0, "0 s"}, {"b", -1, "-"}, {"c", inf, "-"}};
  EXPECT_EQ(bars_text(bars, 4), "a  0 s\nb  -\nc  -\n");
  EXPECT_EQ(bars_text({}, 4), "");
}

}  // namespace
}  // namespace berth
