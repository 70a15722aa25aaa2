#include "base/datetime.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Datetime, ReadsTheFormsOfKnownTraces) {
  const TimeUs expected = 1'507'017'605 * kUsPerS;  // date -u -d '2017-10-03 08:00:05' +%s
  for (const char* text :
       {"2017-10-03 08:00:05", "2017-10-03T08:00:05", "2017-10-03T08:00:05Z",
        "2017-10-03 08:00:05+00:00", "2017-10-03 10:00:05+02:00", "2017-10-03 10:00:05+0200",
        "2017-10-03 03:00:05-05", "2017/10/03 08:00:05", "2017-10-03 08:00:05 UTC",
        "2017-10-03 08:00:05.000"}) {
    EXPECT_EQ(parse_datetime(text), expected) << text;
  }
  EXPECT_EQ(parse_datetime("2017-10-03 08:00:05.25"), expected + 250'000);
  EXPECT_EQ(parse_datetime("2017-10-03 08:00"), expected - 5 * kUsPerS);
  EXPECT_EQ(parse_datetime("1970-01-01"), 0);
  EXPECT_EQ(parse_datetime("2016-02-29 00:00:00"), 1'456'704'000 * kUsPerS);
  EXPECT_EQ(parse_datetime("9999-12-31 23:59:59"), 253'402'300'799 * kUsPerS);
}

TEST(Datetime, RefusesWhatDoesNotExist) {
  for (const char* text : {"", "2017", "2017-13-01", "2017-02-29", "2017-10-00",
                           "2017-10-03 24:00:00", "2017-10-03 08:60:00", "2017-10-03 08:00:61",
                           "2017-10-03 8:00:00", "2017-10-03 08:00:05 PST", "2017-10-03 08:00:05+",
                           "2017-10-03 08:00:05+24:00", "2017-10-03 08:00:05x", "0000-01-01",
                           "03.10.2017", "-017-10-03", "2017-10/03", "1507017605"}) {
    EXPECT_EQ(parse_datetime(text), std::nullopt) << text;
  }
}

TEST(Datetime, WritesWhatItReads) {
  for (const char* text : {"2017-10-03T08:00:05Z", "1971-01-01T00:00:00Z", "2000-02-29T23:59:59Z",
                           "2199-12-31T23:59:59.999999Z", "2024-03-01T00:00:00.5Z"}) {
    const auto us = parse_datetime(text);
    ASSERT_TRUE(us) << text;
    EXPECT_EQ(format_utc(*us), text);
  }
}

}  // namespace
}  // namespace berth
