#include "interference/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "interference/rate_model.h"
#include "unit/interference/synthetic.h"

namespace berth::interference {
namespace {

struct Loaded {
  Dataset data;
  TrainingSet set;
};

std::unique_ptr<Loaded> prepare(const std::string& csv, Mode mode = Mode::kSolo) {
  auto out = std::make_unique<Loaded>();
  auto parsed = parse_dataset("t.csv", csv);
  EXPECT_TRUE(parsed);
  out->data = std::move(parsed->data);
  auto set = TrainingSet::make(out->data, mode);
  EXPECT_TRUE(set);
  out->set = std::move(*set);
  return out;
}

Evaluation run(const Loaded& p, const char* folds, unsigned threads = 2) {
  const auto plan = make_folds(p.data, folds, Rng(2));
  EXPECT_TRUE(plan);
  EvaluateOptions options;
  options.techniques = false;
  options.threads = threads;
  auto result = evaluate(p.set, *plan, Rng(3), options);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return std::move(*result);
}

TEST(Evaluate, NoiseIsNotPredicted) {
  const auto p = prepare(synthetic_csv({.jobs = 10, .repeats = 2, .noise = true}, Rng(11)));
  const Evaluation e = run(*p, "5");
  ASSERT_TRUE(e.selected.r2);
  EXPECT_LE(*e.selected.r2, 0.05);
}

TEST(Evaluate, ALawIsLearntAndTheIntervalHolds) {
  const auto p = prepare(synthetic_csv({.jobs = 12}, Rng(12)));
  const Evaluation e = run(*p, "5");
  EXPECT_LT(e.selected.mae, 0.25 * e.mean.mae);
  ASSERT_TRUE(e.selected.coverage);
  EXPECT_GT(*e.selected.coverage, 0.8);
  EXPECT_TRUE(e.leaks.empty());
}

TEST(Evaluate, ThreadsDoNotChangeTheResult) {
  const auto p = prepare(synthetic_csv({.jobs = 7}, Rng(13)));
  const Evaluation one = run(*p, "job", 1);
  const Evaluation three = run(*p, "job", 3);
  EXPECT_EQ(one.selected.mae, three.selected.mae);
  EXPECT_EQ(one.selected.name, three.selected.name);
}

TEST(Evaluate, TheTargetInDisguiseIsReported) {
  const auto p = prepare(synthetic_csv({.jobs = 8, .leak = true}, Rng(14)), Mode::kMeasured);
  const auto leaks = find_leaks(p->set);
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0].feature, "shared.cost");
}

TEST(RateModel, FileGivesTheSamePredictions) {
  const auto p = prepare(synthetic_csv({.jobs = 7}, Rng(15)));
  const auto model = RateModel::fit(p->set, FoldKind::kPair, Rng(4));
  ASSERT_TRUE(model) << model.error().text();
  const auto again = RateModel::from_text("m.json", model->to_text());
  ASSERT_TRUE(again) << again.error().text();
  const auto a = model->predict(p->data);
  const auto b = again->predict(p->data);
  ASSERT_TRUE(a && b);
  for (std::size_t i = 0; i < a->size(); ++i) {
    EXPECT_EQ((*a)[i].rate, (*b)[i].rate);
    EXPECT_EQ((*a)[i].high, (*b)[i].high);
    EXPECT_LE((*a)[i].low, (*a)[i].rate);
  }
}

TEST(RateModel, DamagedFilesAreRefusedWithAReason) {
  const auto p = prepare(synthetic_csv({.jobs = 5}, Rng(16)));
  const auto model = RateModel::fit(p->set, FoldKind::kPair, Rng(4));
  ASSERT_TRUE(model);
  const std::string text = model->to_text();
  const auto refused = [](const std::string& damaged) {
    const auto result = RateModel::from_text("m.json", damaged);
    EXPECT_FALSE(result);
    return result ? std::string() : result.error().text();
  };
  for (const double part : {0.0, 0.1, 0.5, 0.99}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(text.size()));
    EXPECT_NE(refused(text.substr(0, size)).find("cut short"), std::string::npos);
  }
  auto json = nlohmann::json::parse(text);
  json["version"] = 99;
  EXPECT_NE(refused(json.dump()).find("another version"), std::string::npos);
  json = nlohmann::json::parse(text);
  json["columns"]["solo"] = {"power"};
  EXPECT_NE(refused(json.dump()).find("features"), std::string::npos);
  json = nlohmann::json::parse(text);
  json["ensemble"]["members"] = nlohmann::json::array();
  EXPECT_NE(refused(json.dump()).find("members"), std::string::npos);
}

TEST(RateModel, AMissingColumnAtPredictionIsNamed) {
  const auto p = prepare(synthetic_csv({.jobs = 5}, Rng(17)));
  const auto model = RateModel::fit(p->set, FoldKind::kPair, Rng(4));
  ASSERT_TRUE(model);
  const auto other = parse_dataset("p.csv",
                                   "device,subject,corunners,solo.sm,co.sm,co.rx\n"
                                   "gpu,j1,new,10,20,\n",
                                   RateColumn::kOptional);
  ASSERT_TRUE(other);
  const auto result = model->predict(other->data);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text().find("solo.rx"), std::string::npos) << result.error().text();
}

TEST(PredictionCache, FindsBySetAndDevice) {
  PredictionCache cache;
  const std::vector<JobIndex> set{1, 2};
  cache.put(0, 5, set, {0.5, 0.4, 0.6});
  ASSERT_NE(cache.find(0, 5, set), nullptr);
  EXPECT_EQ(cache.find(0, 5, set)->rate, 0.5);
  EXPECT_EQ(cache.find(1, 5, set), nullptr);
  EXPECT_EQ(cache.find(0, 1, set), nullptr);
  EXPECT_EQ(cache.find(0, 5, {}), nullptr);
}

TEST(Evaluate, ConstantAndNeverMeasuredFeaturesDoNoHarm) {
  std::string csv = "device,subject,corunners,solo.a,solo.b,co.a,co.b,interference_rate\n";
  Rng rng(18);
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) csv += fmt::format("g,j{},j{},1,,1,,{}\n", a, b, rng.uniform());
  }
  const auto p = prepare(csv);
  const Evaluation e = run(*p, "3");
  EXPECT_TRUE(std::isfinite(e.selected.mae));
}

TEST(RateModel, OneRowIsEnoughToFit) {
  const auto p = prepare("device,subject,corunners,solo.a,co.a,interference_rate\ng,a,b,1,2,0.5\n");
  const auto model = RateModel::fit(p->set, FoldKind::kPair, Rng(1));
  ASSERT_TRUE(model) << model.error().text();
  const auto predicted = model->predict(p->data);
  ASSERT_TRUE(predicted);
  EXPECT_TRUE(std::isfinite((*predicted)[0].rate));
  EXPECT_TRUE(std::isfinite((*predicted)[0].high));
}

}  // namespace
}  // namespace berth::interference
