// The real Philly trace, where it is at hand.
#include <gtest/gtest.h>

#include "trace/reader.h"
#include "unit/trace/data_dir.h"

namespace berth::trace {
namespace {

TEST(PhillyCsv, ReadsTheWholeRealTrace) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/philly_rfold/philly_trace.csv.xz");
  const auto result = read_trace(path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->trace.format, "philly-csv");
  EXPECT_EQ(result->trace.jobs.size(), 111'549U);
  EXPECT_EQ(result->report.rejected(), 0U);
  EXPECT_EQ(result->report.warned(), 0U);
  EXPECT_EQ(result->trace.jobs.front().duration_us, MaybeInt(3'613'033 * kUsPerS));
}

TEST(PhillyCsv, ReadsTheTableWithVirtualClusters) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/philly_rfold/derived/philly_with_vc.csv.xz");
  const auto result = read_trace(path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->trace.format, "philly-csv");
  EXPECT_EQ(result->trace.jobs.size(), 111'549U);
  EXPECT_EQ(result->report.rejected(), 0U);
  std::size_t unknown = 0;
  for (const TraceJob& job : result->trace.jobs) unknown += job.vc == NameTable::kNoName ? 1 : 0;
  EXPECT_EQ(unknown, 29'524U);
}

TEST(PhillyCsv, ReadsTheCruxTraceOfTheSameShape) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/alibaba_crux_lingjun2023/crux.csv.xz");
  const auto result = read_trace(path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->trace.jobs.size(), 2'498U);
  EXPECT_EQ(result->report.rejected(), 0U);
}

}  // namespace
}  // namespace berth::trace
