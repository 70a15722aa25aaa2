#include "jobspec/units.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Units, Spans) {
  EXPECT_EQ(parse_span_us("2h"), 2 * kUsPerHour);
  EXPECT_EQ(parse_span_us("1d12h30min15s250ms7us"),
            kUsPerDay + 12 * kUsPerHour + 30 * kUsPerMin + 15'250'007);
  EXPECT_EQ(parse_span_us("1.5s"), 1'500'000);
  EXPECT_EQ(parse_span_us("0.000001s"), 1);
  EXPECT_EQ(parse_span_us("0s"), 0);
  for (const char* text : {"", "s", "1", "1 s", "-1s", "1m", "1s1s", "1s1h", "1.s", ".5s", "01s",
                           "1e3s", "0.0000001s", "36526d", "1h ", "99999999999999999999s"}) {
    EXPECT_EQ(parse_span_us(text), std::nullopt) << text;
  }
  for (const TimeUs us : {TimeUs{0}, TimeUs{1}, TimeUs{1'000}, 90 * kUsPerS, 36'525 * kUsPerDay}) {
    EXPECT_EQ(parse_span_us(span_text(us)), us) << span_text(us);
  }
  EXPECT_EQ(span_text(90 * kUsPerMin), "90min");
}

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size_bytes("1.5KiB"), 1'536);
  EXPECT_EQ(parse_size_bytes("8388607TiB"), std::int64_t{8'388'607} << 40U);
  for (const char* text : {"", "1", "1GB", "1G", "1 GiB", "1.5B", "8388608TiB", "1GiB1MiB"}) {
    EXPECT_EQ(parse_size_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(size_text(std::int64_t{3} << 30U), "3GiB");
  EXPECT_EQ(size_text(1'025), "1025B");
}

}  // namespace
}  // namespace berth
