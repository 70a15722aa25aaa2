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

TEST(Yardstick, V100PairsOfFiveFoldings) {
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
  const auto plan =
      make_folds(data->data, data_folder() + "gavel2019_v100.folds.csv", Rng(1).fork("folds"));
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->foldings.size(), 5U);
  EvaluateOptions options;
  options.techniques = false;
  const auto result = evaluate(*set, *plan, Rng(1).fork("models"), options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_LE(result->selected.mae, 0.083);
  ASSERT_TRUE(result->selected.coverage);
  EXPECT_GE(*result->selected.coverage, 0.87);
  EXPECT_LE(*result->selected.coverage, 0.93);
  EXPECT_TRUE(result->leaks.empty());
}

}  // namespace
}  // namespace berth::interference
