#include "interference/folds.h"

#include <gtest/gtest.h>

#include <set>

#include "unit/interference/synthetic.h"

namespace berth::interference {
namespace {

Dataset synthetic(const SyntheticOptions& options = {}) {
  auto result = parse_dataset("t.csv", synthetic_csv(options, Rng(1)));
  EXPECT_TRUE(result);
  return std::move(result->data);
}

bool names(const Row& row, JobIndex job) {
  return row.subject == job ||
         std::find(row.corunners.begin(), row.corunners.end(), job) != row.corunners.end();
}

TEST(Folds, NoPairIsOnBothSidesAndDuplicatesStayTogether) {
  const Dataset data = synthetic({.jobs = 8, .repeats = 3});
  const auto group = group_by_pair(data);
  for (const char* how : {"pair", "5"}) {
    const auto plan = make_folds(data, how, Rng(3));
    ASSERT_TRUE(plan) << plan.error().text();
    std::vector<int> tested(data.rows.size(), 0);
    for (const Fold& fold : plan->foldings[0].folds) {
      std::set<std::uint32_t> train;
      for (const auto row : fold.train) train.insert(group[row]);
      for (const auto row : fold.test) {
        EXPECT_EQ(train.count(group[row]), 0U);
        ++tested[row];
      }
      EXPECT_EQ(fold.train.size() + fold.test.size(), data.rows.size());
    }
    EXPECT_EQ(std::count(tested.begin(), tested.end(), 1), static_cast<long>(tested.size()));
  }
}

TEST(Folds, AJobLeftOutIsNamedByNoTrainingRow) {
  const Dataset data = synthetic({.jobs = 6});
  const auto plan = make_folds(data, "job", Rng(3));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->foldings[0].folds.size(), 6U);
  for (const Fold& fold : plan->foldings[0].folds) {
    const JobIndex job = data.rows[fold.test[0]].subject;
    for (const auto row : fold.test) EXPECT_EQ(data.rows[row].subject, job);
    for (const auto row : fold.train) EXPECT_FALSE(names(data.rows[row], job));
  }
}

TEST(Folds, InnerJobPartsLeaveOutEveryRowThatNamesTheirJobs) {
  const Dataset data = synthetic({.jobs = 9});
  std::vector<std::size_t> rows(data.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const Folding parts = inner_folds(data, rows, FoldKind::kJob, 3, Rng(5));
  ASSERT_EQ(parts.folds.size(), 3U);
  std::size_t tested = 0;
  for (const Fold& fold : parts.folds) {
    tested += fold.test.size();
    for (const auto test : fold.test) {
      for (const auto train : fold.train) {
        EXPECT_FALSE(names(data.rows[train], data.rows[test].subject));
      }
    }
  }
  EXPECT_EQ(tested, rows.size());
}

TEST(Folds, TooFewPairsIsAnErrorThatSaysHowMany) {  // case IF09
  const auto data =
      read_dataset(std::string(BERTH_SOURCE_DIR) + "/tests/cases/interference/IF09_one_pair.csv");
  ASSERT_TRUE(data);
  const auto plan = make_folds(data->data, "pair", Rng(1));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().text().find("1 pair, at least 3 needed for folds pair"), std::string::npos)
      << plan.error().text();
  EXPECT_EQ(plan.error().exit_code(), 2);
}

}  // namespace
}  // namespace berth::interference
