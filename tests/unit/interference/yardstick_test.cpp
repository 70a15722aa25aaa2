// The goals for real data, which is not part of the repository.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "interference/evaluate.h"

namespace berth::interference {
namespace {

std::string data_folder() {
  const char* from_environment = std::getenv("BERTH_DATA_DIR");
  const std::string root = from_environment != nullptr
                               ? from_environment
                               : std::string(BERTH_SOURCE_DIR) + "/../shared/data";
  return root + "/interference/berth_csv/";
}

struct Goal {
  std::string folds;
  std::size_t foldings;
  double mae;
};

class Yardstick : public testing::TestWithParam<Goal> {};

TEST_P(Yardstick, V100Counters) {
  // Not a fast test, least of all with sanitizers; smaller ones cover what it runs.
  if (std::getenv("BERTH_CASES_PERCENT") != nullptr) GTEST_SKIP() << "a share of all cases only";
  const std::string path = data_folder() + "gavel2019_v100.csv";
  if (!std::filesystem::exists(path)) {
    const char* required = std::getenv("BERTH_REQUIRE_DATA");
    ASSERT_TRUE(required == nullptr || std::string(required) != "1") << path << " is missing";
    GTEST_SKIP() << path << " is missing";
  }
  const auto data = read_dataset(path);
  ASSERT_TRUE(data) << data.error().text();
  const auto set = TrainingSet::make(data->data, Mode::kSolo);
  ASSERT_TRUE(set);
  const std::string& folds = GetParam().folds;
  const auto plan =
      make_folds(data->data, folds == "job" ? folds : data_folder() + folds, Rng(1).fork("folds"));
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->foldings.size(), GetParam().foldings);
  EvaluateOptions options;
  options.techniques = false;
  const auto result = evaluate(*set, *plan, Rng(1).fork("models"), options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_LE(result->selected.mae, GetParam().mae);
  ASSERT_TRUE(result->selected.coverage);
  EXPECT_GE(*result->selected.coverage, 0.87);
  EXPECT_LE(*result->selected.coverage, 0.93);
  EXPECT_TRUE(result->leaks.empty());
}

INSTANTIATE_TEST_SUITE_P(NewPair, Yardstick,
                         testing::Values(Goal{"gavel2019_v100.folds.csv", 5, 0.083}));
INSTANTIATE_TEST_SUITE_P(NewJob, Yardstick, testing::Values(Goal{"job", 1, 0.112}));

}  // namespace
}  // namespace berth::interference
