#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

#include "base/number.h"
#include "base/result.h"
#include "base/statistics.h"

namespace berth {
namespace {

TEST(Number, WholeFieldOrNothing) {
  EXPECT_EQ(parse_int("42"), 42);
  EXPECT_EQ(parse_int("+7"), 7);
  EXPECT_EQ(parse_int("-9223372036854775808"), INT64_MIN);
  for (const char* const bad :
       {"", " 1", "1 ", "1.0", "0x10", "++1", "+-1", "9223372036854775808"}) {
    EXPECT_FALSE(parse_int(bad)) << bad;
  }
  EXPECT_EQ(parse_number("1.5e3"), 1500.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  for (const char* const bad : {"", "nan", "inf", "-inf", "1e999", "1,5", "0x1p3", "--1", "1e"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
  }
}

TEST(Number, SecondsAreExactToTheMicrosecond) {
  EXPECT_EQ(parse_duration_us("90"), 90 * kUsPerS);
  EXPECT_EQ(parse_duration_us("1.5h"), 5400 * kUsPerS);
  EXPECT_EQ(parse_duration_us("7d"), 7 * kUsPerDay);
  for (const char* const wrong : {"", "h", "-1", "1w", "1 h", "1e300d", "nan"}) {
    EXPECT_FALSE(parse_duration_us(wrong)) << wrong;
  }
  EXPECT_EQ(parse_seconds_us("0.1"), 100'000);
  EXPECT_EQ(parse_seconds_us("8589934591.000001"), 8'589'934'591'000'001);
  EXPECT_EQ(parse_seconds_us("-1.0000005"), -1'000'001);  // halves away from zero
  EXPECT_EQ(parse_seconds_us("1.5e3"), 1'500'000'000);
  EXPECT_FALSE(parse_seconds_us("1e30"));
  EXPECT_FALSE(parse_seconds_us("99999999999999999999"));
}

TEST(Number, Thousandths) {
  EXPECT_EQ(parse_milli("2"), 2000);
  EXPECT_EQ(parse_milli("0.333"), 333);
  EXPECT_EQ(parse_milli("0.3330"), 333);
  EXPECT_FALSE(parse_milli("0.3333"));
  EXPECT_FALSE(parse_milli("1e-9"));
}

TEST(Text, NearestNameIsWhatWasMeant) {
  constexpr std::array<std::string_view, 3> kNames = {"fifo", "fifo-backfill", "srtf"};
  EXPECT_EQ(nearest_name("fifp", kNames), "fifo");
  EXPECT_EQ(nearest_name("backfill", kNames), "fifo-backfill");
  EXPECT_EQ(nearest_name("strf", kNames), "srtf");
  EXPECT_EQ(nearest_name("zzzzzzzz", kNames), "");
}

TEST(Text, ForPeople) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(111'549, "job"), "111,549 jobs");
  EXPECT_EQ(counted(1, "policy", "policies"), "1 policy");
  EXPECT_EQ(counted(2, "policy", "policies"), "2 policies");
  EXPECT_EQ(human_duration(0), "0 us");
  EXPECT_EQ(human_duration(59'900'000), "59.9 s");
  EXPECT_EQ(human_duration(3'661 * kUsPerS), "1 h 01 min");
  EXPECT_EQ(human_duration(3 * kUsPerDay), "3 d 00 h");
  EXPECT_EQ(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_cell("plain"), "plain");
}

TEST(Text, NothingUnprintableReachesATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\n\xff\xc2\x9b"), "a\\x1b[31m\\n\\xff\\xc2\\x9b");
  EXPECT_EQ(printable("Müller 日本"), "Müller 日本");
  EXPECT_EQ(printable("a\u202Egnp.exe\u2066\u061C"),
            "a\\xe2\\x80\\xaegnp.exe\\xe2\\x81\\xa6\\xd8\\x9c");
  EXPECT_EQ(printable(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

TEST(Error, OneLineWithEveryPart) {
  const Error error = bad_input("t.csv", 3, "duration", "not a number", "abc", "seconds");
  EXPECT_EQ(error.text(), "t.csv:3: duration: not a number: found abc, expected seconds");
  EXPECT_EQ(error.exit_code(), 2);
  EXPECT_EQ(io_error("x", "no space").exit_code(), 1);
  EXPECT_EQ(bad_input("a\nb", 0, "", "x").text(), "a\\nb: x");
}

TEST(Statistics, QuantilesInterpolate) {
  std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0.0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 1.0), 4);
  std::vector<double> one = {7};
  EXPECT_DOUBLE_EQ(quantile(one, 0.99), 7);
}

// Published quantiles of Student's t.
TEST(Statistics, StudentT) {
  EXPECT_NEAR(student_t_975(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_975(4), 2.7764, 1e-4);
  EXPECT_NEAR(student_t_975(9), 2.2622, 1e-4);
  EXPECT_NEAR(student_t_975(19), 2.0930, 1e-4);
  EXPECT_NEAR(student_t_975(100), 1.9840, 1e-4);
  const std::array values = {1.0, 2.0, 3.0};
  const MeanInterval interval = mean_interval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  EXPECT_NEAR(interval.high - 2, 4.30265 / std::sqrt(3.0), 1e-4);
}

}  // namespace
}  // namespace berth
