// Schedules of ten jobs on two servers of two GPUs, worked out by hand and kept as whole event logs
// (ten_jobs.<policy>.events.csv; devices 0 and 1 are the first server's).
//
// fifo: job 2 (4 GPUs) blocks the queue from 1 s until job 0 ends at 10 s, and runs to 30 s; then
// 3, 4 and 5 start together. At 40 s job 6 takes the three free GPUs; 7 and 8 wait for its end.
// fifo-backfill: job 2 is reserved for 10 s. At 2 s job 3 (3 s) ends by then and starts; job 4
// (30 s) does not, and a job of all GPUs leaves nothing beside it. At 5 s two GPUs are free: job 5
// (2 s) starts. At 40 s job 6 starts; 7 is the head, 8 could not end before it.
// sjf: at 4 s one GPU is free: job 5 (2 s) needs two and is passed over, job 4 (30 s) takes it. Job
// 2 (20 s, 4 GPUs) waits for job 4's end at 34 s.
// srtf: at 3 s job 5 (2 s, 2 GPUs) goes before job 0 (7 s left), which gives way until 5 s. Job 2
// (20 s) goes before job 4 (22 s left) at 12 s. At 40 s jobs 7 (1 s) and 6 (5 s, 3 GPUs) go before
// job 4 (14 s left). At 41 s job 8 (2 s, 2 GPUs) goes before job 6 (4 s left), which no longer
// fits, so that job 4 (one GPU) is back at once.
// Job 9 asks for five GPUs and never fits.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/workload.h"
#include "support/workloads.h"
#include "trace/reader.h"

namespace berth {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, TenJobs) {
  const std::string folder = std::string(BERTH_SOURCE_DIR) + "/tests/golden/";
  auto read = trace::read_trace(folder + "ten_jobs.csv", {});
  ASSERT_TRUE(read) << read.error().text();
  const Cluster cluster = testing::cluster_of("2x2");
  const auto workload =
      as_traced(std::move(read->trace), cluster, Sharing::kExclusive, read->report);
  ASSERT_TRUE(workload);
  const auto run = testing::run_policy(cluster, *workload, GetParam());
  EXPECT_EQ(run.log, file_text(folder + "ten_jobs." + GetParam() + ".events.csv"));
  EXPECT_EQ(run.result.never_fit, 1U);
}

INSTANTIATE_TEST_SUITE_P(Policies, Golden,
                         ::testing::Values("fifo", "fifo-backfill", "sjf", "srtf"));

}  // namespace
}  // namespace berth
