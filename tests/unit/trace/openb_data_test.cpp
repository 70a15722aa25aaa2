// Alibaba's real list of pods, where it is at hand.
#include <gtest/gtest.h>

#include "trace/reader.h"
#include "unit/trace/data_dir.h"

namespace berth::trace {
namespace {

TEST(Openb, ReadsTheWholeRealListOfPods) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/alibaba_gpu_v2023/openb_pod_list_default.csv.xz");
  const auto result = read_trace(path, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->trace.format, "openb");
  // 897 pods were still waiting when the trace ended: no time of scheduling.
  EXPECT_EQ(result->trace.jobs.size(), 8'152U - 897U);
  EXPECT_EQ(result->report.rejected_by_reason(),
            (std::map<std::string, std::uint64_t>{{"never started", 897}}));
  EXPECT_EQ(result->report.warned(), 0U);
  std::size_t shares = 0;
  for (const TraceJob& job : result->trace.jobs) {
    shares += job.gpu_milli.value() > 0 && job.gpu_milli.value() < 1000 ? 1 : 0;
  }
  EXPECT_GT(shares, 2'000U);
}

}  // namespace
}  // namespace berth::trace
