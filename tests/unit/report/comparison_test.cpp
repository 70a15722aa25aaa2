#include "report/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "report/json.h"

namespace berth {
namespace {

RunRecord run_with(const char* policy, std::uint64_t seed, double mean_jct_s, double utilisation) {
  RunRecord record;
  Metrics& m = record.metrics;
  m.policy = policy;
  m.sharing = "exclusive";
  m.predict = "oracle";
  m.seed = seed;
  m.mean_jct_s = mean_jct_s;
  m.gpu_utilisation = utilisation;
  m.rho_whole = 0.5;
  m.rho_share = 0.25;
  m.event_hash = std::string(policy) + std::to_string(seed);
  return record;
}

struct Runs {
  std::vector<RunRecord> first = {run_with("ours", 1, 10, 0.5), run_with("ours", 2, 20, 0.7),
                                  run_with("ours", 3, 30, 0.6)};
  std::vector<RunRecord> second = {run_with("rival", 1, 12, 0.4), run_with("rival", 2, 23, 0.5),
                                   run_with("rival", 3, 37, 0.3)};

  [[nodiscard]] Comparison table(std::size_t seeds) const {
    std::vector<Comparison::RunsOfPolicy> runs(2);
    for (std::size_t s = 0; s < seeds; ++s) {
      runs[0].push_back(&first[s]);
      runs[1].push_back(&second[s]);
    }
    return {"exclusive GPUs", "exclusive", std::move(runs)};
  }
};

const ComparedMetric& metric(std::string_view name) {
  for (const ComparedMetric& one : compared_metrics()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no such metric");
}

TEST(Comparison, IntervalIsPairedStudentT) {
  const Runs runs;
  const auto figure = runs.table(3).paired(1, metric("mean_jct_s"));
  ASSERT_TRUE(figure);
  // Differences 2, 3, 7: mean 4, sample variance 7; t(0.975, 2 degrees) = 4.30265.
  const double half = 4.30265 * std::sqrt(7.0 / 3.0);
  EXPECT_TRUE(figure->has_interval);
  EXPECT_DOUBLE_EQ(figure->difference.mean, 4);
  EXPECT_NEAR(figure->difference.low, 4 - half, 1e-4);
  EXPECT_NEAR(figure->difference.high, 4 + half, 1e-4);
}

TEST(Comparison, GainIsOfTheFirstOverTheRival) {
  const Runs runs;
  const Comparison table = runs.table(3);
  // Means 20 and 24: (24 - 20) / 24. Higher is better: means 0.6 and 0.4, (0.6 - 0.4) / 0.4.
  EXPECT_NEAR(*table.paired(1, metric("mean_jct_s"))->gain, 4.0 / 24, 1e-12);
  EXPECT_NEAR(*table.paired(1, metric("gpu_utilisation"))->gain, 0.5, 1e-12);
  EXPECT_FALSE(table.paired(1, metric("mean_accuracy")));      // no run has it
  EXPECT_FALSE(table.paired(1, metric("preemptions"))->gain);  // the rival's is 0
}

TEST(Comparison, NoIntervalOfOneSeedOrOfCopies) {
  Runs runs;
  const auto one = runs.table(1).paired_json()["rival"]["mean_jct_s"];
  EXPECT_EQ(one["mean_difference"], 2);
  EXPECT_TRUE(one["low95"].is_null());
  EXPECT_TRUE(one["high95"].is_null());
  EXPECT_EQ(runs.table(1).text(false).find("±"), std::string::npos);
  EXPECT_NE(runs.table(3).text(false).find("±"), std::string::npos);
  for (RunRecord& run : runs.first) run.metrics.event_hash = "a";
  EXPECT_FALSE(runs.table(3).seeds_are_copies());
  for (RunRecord& run : runs.second) run.metrics.event_hash = "b";
  EXPECT_TRUE(runs.table(3).seeds_are_copies());
  EXPECT_TRUE(runs.table(3).paired_json()["rival"]["mean_jct_s"]["low95"].is_null());
}

TEST(Comparison, SaysWhatWasPredictedAndTheLoad) {
  const Runs runs;
  EXPECT_EQ(runs.table(3).conditions(),
            "run times: oracle; offered load 0.500, by duty cycle 0.250; 3 seeds");
}

TEST(Comparison, JsonHasOneBlockATableAndTheFirstOnTop) {
  const Runs runs;
  const std::vector<Comparison> tables = {runs.table(3), runs.table(2)};
  const std::vector<const Metrics*> list = {&runs.first[0].metrics, &runs.second[0].metrics};
  const auto json = comparison_json(tables, list);
  EXPECT_EQ(json["baseline"], "ours");
  EXPECT_EQ(json["seeds"], 3);
  EXPECT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["tables"].size(), 2U);
  EXPECT_EQ(json["tables"][0]["summary"], json["summary"]);
  EXPECT_EQ(json["tables"][0]["paired"], json["paired"]);
  EXPECT_EQ(json["summary"]["ours"]["mean_jct_s"]["median"], 20);
  EXPECT_EQ(json["tables"][1]["summary"]["ours"]["mean_jct_s"]["median"], 15);
  EXPECT_TRUE(comparison_json({}, {})["baseline"].is_null());
}

TEST(MetricsJson, ReadsBackWhatItWrites) {
  Metrics m = run_with("fifo", 7, 0.1 + 0.2, 1.0 / 3).metrics;
  m.overloads = 5;
  m.interrupted = true;
  const auto json = to_json(m);
  const auto back = metrics_from_json(nlohmann::ordered_json::parse(json.dump()));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back).dump(), json.dump());
  for (const auto& [key, value] : json.items()) {
    nlohmann::ordered_json broken = json;
    broken.erase(key);
    EXPECT_FALSE(metrics_from_json(broken)) << key;
    broken = json;
    broken[key] = nlohmann::ordered_json::array();
    EXPECT_FALSE(metrics_from_json(broken)) << key;
  }
}

}  // namespace
}  // namespace berth
