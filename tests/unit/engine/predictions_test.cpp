// How good predictions were, as figures.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/metrics.h"
#include "support/workloads.h"

namespace berth {
namespace {

Metrics scored(const Workload& workload, std::string_view predict) {
  const auto policy = (*find_policy("fifo"))->make({});
  const auto predictors = make_predictors(predict, workload, 1);
  auto result = simulate(testing::cluster_of("1x1"), workload, **policy, **predictors, {});
  EXPECT_TRUE(result);
  Metrics metrics;
  score_predictions(workload, *result, **predictors, metrics);
  return metrics;
}

TEST(Predictions, TheTruthHasNoErrorAndNothingHasNoFigure) {
  const Workload jobs = testing::workload_of({{0, 10, 1}, {1, 20, 1}, {2, 0, 1}, {3, 5, 2}});
  const Metrics oracle = scored(jobs, "oracle");
  EXPECT_EQ(oracle.prediction_log_error_mean, 0);
  EXPECT_EQ(oracle.prediction_log_error_sd, 0);
  EXPECT_EQ(oracle.prediction_ratio_p50, 1);
  const Metrics none = scored(jobs, "none");
  EXPECT_FALSE(none.prediction_log_error_mean);
  EXPECT_FALSE(none.prediction_log_error_sd);
  EXPECT_FALSE(none.prediction_ratio_p50);
}

TEST(Predictions, TheErrorOfNoisyOnesIsTheirSigma) {
  std::vector<testing::SimpleJob> list;
  for (int j = 0; j < 5000; ++j) list.push_back({static_cast<double>(j), 100, 1});
  const Metrics noisy = scored(testing::workload_of(list), "noisy:0.5");
  EXPECT_NEAR(*noisy.prediction_log_error_mean, 0, 0.03);
  EXPECT_NEAR(*noisy.prediction_log_error_sd, 0.5, 0.02);
  // Half of the standard normal values are within 0.6745.
  EXPECT_NEAR(*noisy.prediction_ratio_p50, std::exp(-0.6745 * 0.5), 0.02);
}

// The first job is not predicted; the second ran twice as long as the first.
TEST(Predictions, HistoryCountsOnlyWhatItPredicted) {
  const Metrics two = scored(testing::workload_of({{0, 10, 1}, {11, 20, 1}}), "history");
  EXPECT_NEAR(*two.prediction_log_error_mean, std::log(2.0), 1e-6);
  EXPECT_NEAR(*two.prediction_log_error_sd, 0, 1e-6);
  EXPECT_NEAR(*two.prediction_ratio_p50, 0.5, 1e-6);
  EXPECT_FALSE(scored(testing::workload_of({{0, 10, 1}}), "history").prediction_ratio_p50);
}

}  // namespace
}  // namespace berth
