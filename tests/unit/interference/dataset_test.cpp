#include "interference/dataset.h"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::interference {
namespace {

constexpr const char* kHeader = "device,subject,corunners,solo.sm,co.sm,interference_rate\n";

Result<DatasetResult> parse(const std::string& text) {
  return parse_dataset("t.csv", text);
}

DatasetResult good(const std::string& text) {
  auto result = parse(text);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? std::move(*result) : DatasetResult{};
}

std::vector<double> rates(const DatasetResult& result) {
  std::vector<double> out;
  for (const Row& row : result.data.rows) out.push_back(row.rate);
  return out;
}

std::string fixture(const std::string& name) {
  return std::string(BERTH_SOURCE_DIR) + "/tests/cases/interference/" + name;
}

TEST(Dataset, RateFromTimesKeepsNegative) {  // case IF02
  const auto result = read_dataset(fixture("IF02_no_rate.csv"));
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->data.rows.size(), 2U);
  EXPECT_NEAR(result->data.rows[0].rate, 0.5, 1e-12);
  EXPECT_NEAR(result->data.rows[1].rate, -0.2, 1e-12);
}

TEST(Dataset, ConflictingRateIsRejectedWithItsLine) {  // case IF04
  const auto result = read_dataset(fixture("IF04_conflict.csv"));
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->data.rows.size(), 1U);
  EXPECT_NEAR(result->data.rows[0].rate, 0.1, 1e-12);
  ASSERT_EQ(result->report.rejected(), 1U);
  EXPECT_EQ(result->report.rejected_notes()[0].line, 2U);
  EXPECT_EQ(result->report.rejected_notes()[0].field, "interference_rate");
}

TEST(Dataset, PercentIsDividedAndABareNumberAmongPercentsIsReported) {  // case IF07
  const auto result = read_dataset(fixture("IF07_percent.csv"));
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->data.rows.size(), 3U);
  EXPECT_NEAR(result->data.rows[0].rate, 1.5025, 1e-12);
  EXPECT_NEAR(result->data.rows[1].rate, 0.305, 1e-12);
  EXPECT_NEAR(result->data.rows[2].rate, 12.0, 1e-12);
  EXPECT_EQ(result->report.warned(), 1U);
}

TEST(Dataset, NotSupportedMarkersAreMissingNotNumbers) {
  const auto result = good(std::string(kHeader) +
                           "d,a,b,[N/A],[Not Supported],0.5\n"
                           "d,b,a,,N/A,0.1\n"
                           "d,a,a,[Unknown Error],nan,0.2\n"
                           "d,b,b,-,85 %,0.2\n");
  ASSERT_EQ(result.data.rows.size(), 4U);
  EXPECT_EQ(result.report.rejected(), 0U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(result.data.rows[i].solo[0])) << i;
    EXPECT_TRUE(std::isnan(result.data.rows[i].co[0][0])) << i;
  }
  EXPECT_EQ(result.data.rows[3].co[0][0], 85.0);
}

TEST(Dataset, InfiniteFeatureIsMissingAndReported) {
  const auto result = good(std::string(kHeader) + "d,a,b,inf,-Infinity,0.5\n");
  EXPECT_TRUE(std::isnan(result.data.rows[0].solo[0]));
  EXPECT_EQ(result.report.warned(), 2U);
}

TEST(Dataset, DamagedRowsAreRejectedTheRestIsUsed) {
  const auto result = good(
      "device,subject,corunners,solo.sm,alone,shared\n"
      "d,a,b,1,0,1\n"           // alone 0
      "d,a,b,1,-1,1\n"          // negative
      "d,a,b,1,1,nan\n"         // no rate
      "d,a,,1,1,2\n"            // no co-runner
      ",a,b,1,1,2\n"            // no device
      "d,a,b,fast,1,2\n"        // not a number
      "d,a,b,1,1\n"             // too few fields
      "d,a,b+,1,1,2\n"          // a co-runner without a name
      "d,a,b,1,1e-300,1e300\n"  // beyond any rate
      "d,a,b,1,1,2\n");
  EXPECT_EQ(rates(result), std::vector<double>{1.0});
  EXPECT_EQ(result.report.rejected(), 9U);
}

TEST(Dataset, SpreadsheetsAndWindowsFiles) {
  const auto expected = std::vector<double>{0.5, 0.25};
  EXPECT_EQ(
      rates(good("\xEF\xBB\xBF" + std::string(kHeader) + "d,a,b,1,2,0.5\r\nd,b,a,2,1,0.25\r\n")),
      expected);
  EXPECT_EQ(rates(good("device;subject;corunners;solo.sm;co.sm;interference_rate\n"
                       "d;a;b;1,5;2;0,5\nd;b;a;2;1,5;0,25\n")),
            expected);
  EXPECT_EQ(rates(good("\"device\",\"subject\",\"corunners\",\"solo.sm\",\"co.sm\","
                       "\"interference_rate\"\n\"d\",\"a, b\",\"b\",\"1\",\"2\",\"0.5\"\n"
                       "d,b,\"a, b\",2,1,0.25\n")),
            expected);
}

TEST(Dataset, SeveralCorunnersAreASetWithTheirValues) {
  const auto result = good(std::string(kHeader) +
                           "d,a,c+b,1,3e+01+2,0.5\n"
                           "d,a,b+c,1,2+30,0.5\n"
                           "d,a,b+c,1,2,0.5\n");
  ASSERT_EQ(result.data.rows.size(), 2U);
  EXPECT_EQ(result.data.rows[0].corunners, result.data.rows[1].corunners);
  EXPECT_EQ(result.data.rows[0].co, result.data.rows[1].co);
  EXPECT_EQ(result.report.rejected(), 1U);
  EXPECT_EQ(result.report.warned(), 1U);  // the repeated row
}

TEST(Dataset, WholeFileErrorsNameWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const auto result = parse(text);
    EXPECT_FALSE(result);
    return result ? std::string() : result.error().text();
  };
  EXPECT_NE(message(""), "");
  EXPECT_NE(message("device,subject,solo.sm,interference_rate\nd,a,1,0\n").find("corunners"),
            std::string::npos);
  EXPECT_NE(message("device,subject,corunners,solo.sm\nd,a,b,1\n").find("interference_rate"),
            std::string::npos);
  EXPECT_NE(message(kHeader).find("no rows"), std::string::npos);
  EXPECT_NE(message(std::string(kHeader) + "d,a,b,1,2,fast\n").find("t.csv:2"), std::string::npos);
  EXPECT_NE(message("device,subject,corunners,solo.sm,solo.sm,interference_rate\nd,a,b,1,2,0\n")
                .find("twice"),
            std::string::npos);
}

}  // namespace
}  // namespace berth::interference
