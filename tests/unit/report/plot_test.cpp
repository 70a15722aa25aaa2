#include "report/plot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "report/page.h"

namespace berth::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string labels(const Axis& axis, Range range) {
  std::string out;
  for (const Tick& tick : ticks(axis, range, 6)) out += (out.empty() ? "" : " | ") + tick.label;
  return out;
}

void expect_only_finite_numbers(const std::string& svg_text) {
  for (const char* word : {"nan", "inf", "NaN"}) {
    EXPECT_EQ(svg_text.find(word), std::string::npos) << word;
  }
}

TEST(Axis, LinearTicksAreRound) {
  const Axis axis;
  EXPECT_EQ(labels(axis, {0, 1}), "0 | 0.2 | 0.4 | 0.6 | 0.8 | 1");
  EXPECT_EQ(labels(axis, {-30, 70}), "-20 | 0 | 20 | 40 | 60");
  EXPECT_EQ(labels(axis, {0, 120'000}), "0 | 20k | 40k | 60k | 80k | 100k | 120k");
}

TEST(Axis, TimesAreMarkedInTheirUnits) {
  const Axis linear{.unit = AxisUnit::kSeconds};
  EXPECT_EQ(labels(linear, {0, 86400}), "0 | 6 h | 12 h | 18 h | 1 d");
  const Axis log{.scale = AxisScale::kLog, .unit = AxisUnit::kSeconds};
  EXPECT_EQ(labels(log, {1, 1e6}), "1 s | 10 s | 1 min | 10 min | 1 h | 1 d | 10 d");
}

TEST(Axis, LogTicksAreDecadesAndFinerWhereFew) {
  const Axis log{.scale = AxisScale::kLog};
  EXPECT_EQ(labels(log, {1, 1e5}), "1 | 10 | 100 | 1000 | 10k | 100k");
  EXPECT_EQ(labels(log, {1, 10}), "1 | 2 | 5 | 10");
}

TEST(Axis, RangesAreValidWhateverTheData) {
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog}) {
    const Axis axis{.scale = scale};
    for (const Range data : {Range{0, 0}, Range{5, 5}, Range{-1, 1}, Range{kInf, -kInf},
                             Range{1e300, 1e300}, Range{-3, -2}, Range{kNan, kNan}}) {
      const Range range = axis_range(axis, data);
      EXPECT_LT(range.low, range.high) << data.low;
      EXPECT_TRUE(std::isfinite(range.low) && std::isfinite(range.high)) << data.low;
      EXPECT_TRUE(scale == AxisScale::kLinear || range.low > 0);
      EXPECT_LE(ticks(axis, range, 6).size(), 100U);
    }
  }
}

TEST(Plot, LeavesOutWhatIsNotFiniteOrNotPositiveOnALogAxis) {
  const Plot plot{.title = "t",
                  .x = {.scale = AxisScale::kLog},
                  .series = {{.name = "s",
                              .x = {0, 1, 10, kNan, 100, 1000},
                              .y = {1, 2, kInf, 3, 4, 5},
                              .low = {0, 1, 0, 0, kNan, 4},
                              .high = {2, 3, 0, 0, 5, 6}}}};
  const std::string text = svg(plot);
  expect_only_finite_numbers(text);
  // One lone point, then a line of two: the gap breaks the path.
  const auto path = text.find("<path class=\"l s0\"");
  ASSERT_NE(path, std::string::npos);
  const std::string line = text.substr(path, text.find("/>", path) - path);
  EXPECT_EQ(std::ranges::count(line, 'M'), 2);
  EXPECT_EQ(std::ranges::count(line, 'L'), 1);
}

TEST(Plot, EveryMarkDrawsAndAnEmptyPlotSaysSo) {
  for (const Mark mark : {Mark::kLine, Mark::kStep, Mark::kArea, Mark::kPoints, Mark::kBars}) {
    const Plot plot{.series = {{.mark = mark, .x = {1, 2, 3}, .y = {3, 1, 2}}}};
    const std::string text = svg(plot);
    expect_only_finite_numbers(text);
    EXPECT_EQ(text.find("no data"), std::string::npos);
  }
  EXPECT_NE(svg(Plot{.title = "nothing"}).find("no data"), std::string::npos);
}

TEST(Plot, BarsOfACategoryStandSideBySide) {
  const Series bars{.name = "a", .mark = Mark::kBars, .x = {0, 1}, .y = {1, 2}};
  Series others = bars;
  others.name = "b";
  const std::string text =
      svg(Plot{.x = {.categories = {"fifo", "srtf"}}, .series = {bars, others}});
  EXPECT_NE(text.find(">fifo<"), std::string::npos);
  std::size_t rects = 0;
  for (std::size_t at = 0; (at = text.find("<rect", at)) != std::string::npos; ++at) ++rects;
  EXPECT_EQ(rects, 4U + 2U);  // bars and the legend
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(Plot, RowsOfCategoriesHaveWhiskersAlongXAndALineAtZero) {
  const Plot plot{.title = "t",
                  .description = "what it shows",
                  .y = {.categories = {"fifo", "srtf"}},
                  .series = {{.name = "s",
                              .mark = Mark::kPoints,
                              .x = {5, kNan},
                              .y = {0, 1},
                              .x_low = {4, 1},
                              .x_high = {6, 2},
                              .tooltip = {"five", "none"}}},
                  .zero_x = true};
  const std::string text = svg(plot);
  expect_only_finite_numbers(text);
  EXPECT_EQ(count(text, "<line class=\"z\""), 1U);
  EXPECT_EQ(count(text, "<circle"), 1U);
  EXPECT_EQ(count(text, "<path class=\"w s0\""), 1U);
  EXPECT_EQ(count(text, "<title>five</title>"), 1U);
  EXPECT_EQ(count(text, ">srtf</text>"), 1U);
  EXPECT_NE(text.find("aria-label=\"t. what it shows\""), std::string::npos);
}

TEST(Plot, MoreSeriesThanColoursDifferByDashesAndEachLineTellsItsName) {
  Plot plot;
  for (int i = 0; i < 12; ++i) {
    plot.series.push_back({.name = fmt::format("policy-{}", i), .x = {0, 1}, .y = {0, 1.0 * i}});
  }
  const std::string text = svg(plot);
  EXPECT_EQ(count(text, "class=\"l s3\""), 2U);  // the line and its sample in the legend
  EXPECT_EQ(count(text, "class=\"l s3 k1\""), 2U);
  EXPECT_EQ(count(text, "<title>policy-11</title>"), 1U);
  EXPECT_EQ(count(text, ">policy-11</text>"), 1U);
}

TEST(Plot, TextIsEscapedEverywhere) {
  const std::string bad = "<script>\"&'\x01\xff";
  const Plot plot{
      .title = bad,
      .x = {.label = bad, .categories = {bad}},
      .y = {.label = bad},
      .series = {{.name = bad, .mark = Mark::kBars, .x = {0}, .y = {1}, .tooltip = {bad}}}};
  const HeatMap map{
      .title = bad, .value_label = bad, .rows = {bad}, .columns = {bad}, .values = {1}};
  Page page(bad);
  page.heading(bad);
  page.paragraph(bad);
  page.figure(svg(plot), bad);
  page.figure(svg(map), bad);
  const std::vector<std::vector<std::string>> rows = {{bad}};
  page.table(std::vector<std::string>{bad}, rows);
  const std::string html = page.html();
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;&quot;&amp;&#39;\\x01\\xff"), std::string::npos);
}

TEST(HeatMap, MissingCellsAreHatchedAndTheOthersShaded) {
  const std::string text = svg(
      HeatMap{.title = "m", .rows = {"r"}, .columns = {"a", "b", "c"}, .values = {0, kNan, 10}});
  EXPECT_NE(text.find("class=\"h0\""), std::string::npos);
  EXPECT_NE(text.find("class=\"h9\""), std::string::npos);
  EXPECT_NE(text.find("class=\"hn\""), std::string::npos);
  expect_only_finite_numbers(text);
}

TEST(Cdf, EndsAtTheLargestValueAndOne) {
  const Series series = cdf("c", {3, 1, 2, kNan, 4}, 400);
  EXPECT_EQ(series.x, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(series.y, (std::vector<double>{0.25, 0.5, 0.75, 1}));
  const Series thin = cdf("c", std::vector<double>(10'000, 1.0), 50);
  EXPECT_EQ(thin.x.size(), 50U);
  EXPECT_EQ(thin.y.back(), 1);
  EXPECT_TRUE(cdf("c", {}).x.empty());
}

TEST(Histogram, CountsEveryValueOnce) {
  const std::vector<double> values = {1, 1, 10, 100, 1000, 0, kNan};
  const Series log = histogram("h", values, 3, AxisScale::kLog);
  EXPECT_EQ(log.y, (std::vector<double>{2, 1, 2}));  // 0 has no logarithm
  const Series linear = histogram("h", std::vector<double>{5, 5}, 4, AxisScale::kLinear);
  EXPECT_EQ(linear.y, (std::vector<double>{2, 0, 0, 0}));
}

}  // namespace
}  // namespace berth::report
