#include "document/fields.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::document {
namespace {

std::optional<std::int64_t> value(std::string_view text, std::int64_t factor) {
  const auto decimal = parse_decimal(text);
  return decimal ? scaled(*decimal, factor) : std::nullopt;
}

TEST(Decimal, OnlyWhatMeansTheSameToEveryone) {
  EXPECT_EQ(value("0", 1), 0);
  EXPECT_EQ(value("-12", 1), -12);
  EXPECT_EQ(value("2.0", 1), 2);
  EXPECT_EQ(value("0.125", 1000), 125);
  EXPECT_EQ(value("999999999999999999", 1), 999'999'999'999'999'999);
  for (const char* text : {"", "-", "010", "00", "1_000", "1e3", "+1", ".5", "5.", "0x1", "1.2.3",
                           "1,5", " 1", "nan", "1000000000000000000"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(Decimal, ScalesExactlyOrNotAtAll) {
  EXPECT_EQ(value("0.0005", 1000), std::nullopt);
  EXPECT_EQ(value("999999999999999999", 1000), std::nullopt);  // beyond 64 bits
  EXPECT_EQ(scaled_nearest({.digits = 15, .scale = 1}, 1), 2);
  EXPECT_EQ(scaled_nearest({.digits = -15, .scale = 1}, 1), -2);
  EXPECT_EQ(scaled_nearest({.digits = 30000000000000004, .scale = 17}, 1'000'000), 300'000);
}

}  // namespace
}  // namespace berth::document
