#include "report/run_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/workloads.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

class RunStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("run_store_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
               std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] RunStore open() const {
    auto store = RunStore::open(folder_.string(), {"a", "b"});
    if (!store) throw std::runtime_error(store.error().text());
    return *std::move(store);
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(folder_ / "runs.jsonl", std::ios::binary);
    std::stringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void overwrite(const std::string& bytes) const {
    std::ofstream(folder_ / "runs.jsonl", std::ios::binary) << bytes;
  }

  fs::path folder_;
};

RunRecord record_of(const char* policy) {
  RunRecord record;
  record.metrics.policy = policy;
  record.metrics.mean_jct_s = 0.1 + 0.2;
  record.jct_us = {1, 2, 3};
  record.series = {.bin_us = kUsPerS, .waiting_milli = {1, 2}, .held_milli = {3, 4}};
  return record;
}

TEST_F(RunStoreTest, KeepsWhatIsAddedAndIsItsOwnersAlone) {
  RunStore store = open();
  ASSERT_TRUE(store.add("a", record_of("fifo")));
  ASSERT_TRUE(store.add("elsewhere", record_of("srtf")));
  const RunStore again = open();
  ASSERT_NE(again.find("a"), nullptr);
  EXPECT_EQ(to_json(*again.find("a")).dump(), to_json(record_of("fifo")).dump());
  EXPECT_EQ(again.find("b"), nullptr);
  EXPECT_EQ(again.find("elsewhere"), nullptr);  // of another comparison: not read
  EXPECT_EQ(again.damaged_lines(), 0U);
  struct stat info {};
  ASSERT_EQ(::stat((folder_ / "runs.jsonl").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

// Wherever a write was torn, the lines before it count, and so does what is added after it.
TEST_F(RunStoreTest, EveryTornLastLineIsCountedAndTheNextStandsAlone) {
  {
    RunStore store = open();
    ASSERT_TRUE(store.add("a", record_of("fifo")));
  }
  const std::string first = text();
  {
    RunStore store = open();
    ASSERT_TRUE(store.add("b", record_of("srtf")));
  }
  const std::string both = text();
  for (std::size_t cut = first.size() + 1; cut < both.size() - 1; cut += 7) {
    overwrite(both.substr(0, cut));
    RunStore torn = open();
    EXPECT_EQ(torn.damaged_lines(), 1U) << cut;
    EXPECT_NE(torn.find("a"), nullptr) << cut;
    EXPECT_EQ(torn.find("b"), nullptr) << cut;
    ASSERT_TRUE(torn.add("b", record_of("srtf")));
    const RunStore mended = open();
    EXPECT_EQ(mended.damaged_lines(), 1U) << cut;
    EXPECT_NE(mended.find("b"), nullptr) << cut;
  }
}

TEST_F(RunStoreTest, EveryChangedByteIsSeen) {
  {
    RunStore store = open();
    ASSERT_TRUE(store.add("a", record_of("fifo")));
  }
  const std::string right = text();
  for (std::size_t i = 0; i + 1 < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = wrong[i] == '1' ? '2' : '1';
    overwrite(wrong);
    const RunStore store = open();
    EXPECT_EQ(store.find("a"), nullptr) << i;
  }
  for (const char* const junk :
       {"", "\n\n", "{}", "[]", "null", "{\"key\":1}", "\xff\xfe", "[[[[[["}) {
    overwrite(right + junk);
    EXPECT_NE(open().find("a"), nullptr) << junk;
  }
}

TEST_F(RunStoreTest, AFolderThatCannotBeIsAnError) {
  std::ofstream(folder_.string()) << "a file";
  const auto store = RunStore::open(folder_.string(), {});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().exit_code(), 1);
}

// Two jobs of 1 and 2 GPUs on one server of 2: the second waits for the first.
TEST(RunSeries, MeansOverBins) {
  const Cluster cluster = testing::cluster_of("1x2");
  const Workload workload =
      testing::workload_of({{.submit_s = 0, .run_s = 10, .gpus = 1},
                            {.submit_s = 2.5, .run_s = 4, .gpus = 2},
                            {.submit_s = 3, .run_s = 4, .gpus = 3}});  // never fits
  RunSeriesLog log(cluster, workload);
  const auto policy = (*find_policy("fifo"))->make({});
  ASSERT_TRUE(policy);
  const auto predictors = make_predictors("oracle", workload, 1);
  SimulationOptions options;
  options.log = &log;
  const auto result = simulate(cluster, workload, **policy, **predictors, options);
  ASSERT_TRUE(result);
  const RunSeries series = log.series();
  EXPECT_EQ(series.bin_us, kUsPerS);
  EXPECT_EQ(series.waiting_milli, (std::vector<std::int64_t>{0, 0, 500, 1000, 1000, 1000, 1000,
                                                             1000, 1000, 1000, 0, 0, 0, 0}));
  EXPECT_EQ(series.held_milli,
            (std::vector<std::int64_t>{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000,
                                       2000, 2000, 2000, 2000}));
  const std::vector<TimeUs> jct_us = jct_quantiles(workload, *result);
  ASSERT_EQ(jct_us.size(), kJctParts + 1);
  EXPECT_EQ(jct_us.front(), 10 * kUsPerS);
  EXPECT_EQ(jct_us[kJctParts / 2], 10 * kUsPerS);
  EXPECT_EQ(jct_us[kJctParts / 2 + 1], 11'500'000);
}

// However long a run is, the bins are few, and what they hold is what was held.
TEST(RunSeries, BinsGrowWithTheRunAndLoseNothing) {
  Rng rng(1);
  for (const double scale : {1e-3, 1.0, 1e3, 1e7}) {
    const Cluster cluster = testing::cluster_of("2x4");
    std::vector<testing::SimpleJob> jobs;
    double at_s = 0;
    for (int i = 0; i < 100; ++i) {
      at_s += rng.exponential(1.0) * scale;
      jobs.push_back({.submit_s = at_s,
                      .run_s = rng.exponential(0.5) * scale,
                      .gpus = static_cast<std::uint32_t>(rng.uniform_int(1, 4))});
    }
    jobs.front().submit_s = 0;
    const Workload workload = testing::workload_of(jobs);
    RunSeriesLog log(cluster, workload);
    const auto policy = (*find_policy("fifo"))->make({});
    const auto predictors = make_predictors("oracle", workload, 1);
    SimulationOptions options;
    options.log = &log;
    auto result = simulate(cluster, workload, **policy, **predictors, options);
    ASSERT_TRUE(result);
    const RunSeries series = log.series();
    ASSERT_LE(series.held_milli.size(), RunSeriesLog::kMostBins);
    const double end_s = seconds(result->end_us);
    double held_gpu_s = 0;
    double waited_s = 0;
    for (std::size_t i = 0; i < series.held_milli.size(); ++i) {
      const double from_s = static_cast<double>(i) * seconds(series.bin_us);
      const double width_s = std::min(end_s - from_s, seconds(series.bin_us));
      held_gpu_s += static_cast<double>(series.held_milli[i]) / 1e3 * width_s;
      waited_s += static_cast<double>(series.waiting_milli[i]) / 1e3 * width_s;
    }
    const Metrics metrics = summarise(cluster, workload, *result);
    EXPECT_NEAR(held_gpu_s / (8 * end_s), *metrics.gpu_utilisation, 1e-3);
    EXPECT_NEAR(waited_s, *metrics.mean_wait_s * 100, 1e-3 * end_s);
  }
}

}  // namespace
}  // namespace berth
