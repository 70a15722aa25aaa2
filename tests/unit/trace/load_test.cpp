#include "trace/load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace berth::trace {
namespace {

TraceJob job(TimeUs arrival_us, TimeUs duration_us, std::int64_t gpus) {
  TraceJob out;
  out.arrival_us = arrival_us;
  out.duration_us = duration_us;
  out.gpu_milli = gpus * 1000;
  return out;
}

TEST(LoadOverTime, CountsArrivalsAndMeanDemandByHour) {
  Trace trace;
  trace.jobs = {job(0, kUsPerHour / 2, 2), job(kUsPerHour / 2, 2 * kUsPerHour, 4),
                job(3 * kUsPerHour, 50 * kUsPerHour, 1)};
  const LoadOverTime load = load_over_time(trace);
  EXPECT_EQ(load.bin_us, kUsPerHour);
  EXPECT_EQ(load.arrivals, (std::vector<std::uint64_t>{2, 0, 0, 1}));
  ASSERT_EQ(load.gpus.size(), 4U);
  EXPECT_DOUBLE_EQ(load.gpus[0], 1 + 2);
  EXPECT_DOUBLE_EQ(load.gpus[1], 4);
  EXPECT_DOUBLE_EQ(load.gpus[2], 2);
  EXPECT_DOUBLE_EQ(load.gpus[3], 1);
}

TEST(LoadOverTime, LongTracesGetLongerBins) {
  Trace trace;
  trace.jobs = {job(0, 1, 1), job(100 * kUsPerHour, 1, 1)};
  const LoadOverTime load = load_over_time(trace, 10);
  EXPECT_EQ(load.bin_us, 11 * kUsPerHour);
  EXPECT_EQ(load.arrivals.size(), 10U);
}

TEST(LoadOverTime, TheWeekStartsOnMondayWhereTheDateIsKnown) {
  Trace trace;
  trace.zero_is_unix_time = true;
  trace.zero_us = 1'772'409'600 * kUsPerS + 30 * kUsPerMin;  // Monday 2026-03-02, 00:30 UTC
  trace.jobs = {job(0, 1, 1), job(kUsPerHour, 1, 1), job(7 * kUsPerDay, 1, 1)};
  const LoadOverTime load = load_over_time(trace);
  EXPECT_TRUE(load.from_monday);
  EXPECT_DOUBLE_EQ(load.week[0][0], 1);  // two Mondays, one job in that hour of each
  EXPECT_DOUBLE_EQ(load.week[0][1], 1);
  EXPECT_DOUBLE_EQ(load.week[3][5], 0);
}

TEST(LoadOverTime, HoursThatTheTraceDoesNotReachAreNotZero) {
  Trace trace;
  trace.jobs = {job(0, 1, 1), job(2 * kUsPerHour, 1, 1)};
  const LoadOverTime load = load_over_time(trace);
  EXPECT_DOUBLE_EQ(load.week[0][2], 1);
  EXPECT_TRUE(std::isnan(load.week[0][3]));
  EXPECT_TRUE(load_over_time(Trace{}).gpus.empty());
}

}  // namespace
}  // namespace berth::trace
