#include "interference/aip.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "interference/evaluate.h"

namespace berth::interference {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSplitParts = 5;  // one fifth of the pairs is tested
constexpr double kForestTrees = 50;     // enough for a mean error; keeps AIP under its time

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Params quick(Params params) {
  for (auto& [name, value] : params) {
    if (name == "trees") value = std::min(value, kForestTrees);
  }
  return params;
}

double mean_error(const TrainingSet& set, const Fold& split) {
  double mean = 0;
  for (const std::size_t row : split.train) mean += set.rate(static_cast<Eigen::Index>(row));
  mean /= static_cast<double>(split.train.size());
  double error = 0;
  for (const std::size_t row : split.test) {
    error += std::abs(set.rate(static_cast<Eigen::Index>(row)) - mean);
  }
  return error / static_cast<double>(split.test.size());
}

void add_influence(AipResult& out) {
  double sum = 0;
  for (const Category category : kCategories) {
    if (category == Category::kAll) continue;
    double removed = 0;
    double count = 0;
    for (const AipCell& cell : out.cells) {
      if (cell.category != category) continue;
      removed += std::max(0.0, 1.0 - cell.mae / out.mean_mae);
      count += 1;
    }
    if (count == 0) continue;
    out.influence.push_back({category, out.mean_mae > 0 ? removed / count : 0.0});
    sum += out.influence.back().percent;
  }
  for (AipInfluence& entry : out.influence) {
    entry.percent = sum > 0 ? 100.0 * entry.percent / sum : 0.0;
  }
}

}  // namespace

std::optional<AipCell> evaluate_once(const TrainingSet& set, const Fold& split,
                                     const TechniqueInfo& technique, Category category, Rng rng) {
  const auto start = Clock::now();
  FeatureView view = paper_view(set.map);
  view.category = category;
  const Candidate candidate{std::string(technique.name), quick(technique.defaults), view, false};
  const auto features = set.map.features();
  if (!Member::possible(candidate, features)) return std::nullopt;
  Scaler scaler;
  scaler.fit(features, set.raw, split.train);
  const Prepared prepared{split.train, scaler.apply(set.raw, split.train), {}};
  Vector target(static_cast<Eigen::Index>(split.train.size()));
  for (std::size_t i = 0; i < split.train.size(); ++i) {
    target(static_cast<Eigen::Index>(i)) = set.rate(static_cast<Eigen::Index>(split.train[i]));
  }
  const auto member = Member::fit(candidate, features, *set.data, prepared, target, rng);
  if (!member) return std::nullopt;
  AipCell cell{candidate.technique, category, 0, milliseconds_since(start)};
  const Matrix x = scaler.apply(set.raw, split.test);
  for (std::size_t i = 0; i < split.test.size(); ++i) {
    const std::span row(x.row(static_cast<Eigen::Index>(i)).data(),
                        static_cast<std::size_t>(x.cols()));
    cell.mae += std::abs(member->predict({row, {}, {}, {}}) -
                         set.rate(static_cast<Eigen::Index>(split.test[i])));
  }
  cell.mae /= static_cast<double>(split.test.size());
  return cell;
}

Result<AipResult> run_aip(const TrainingSet& set, Rng rng) {
  const auto start = Clock::now();
  std::vector<std::size_t> rows(set.data->rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const Folding parts =
      inner_folds(*set.data, rows, FoldKind::kPair, kSplitParts, rng.fork("split"));
  if (parts.folds.empty()) {
    return fail(bad_input(set.data->source, 0, {}, "1 pair, at least 2 needed for a split"));
  }
  const Fold& split = parts.folds[0];
  AipResult out;
  out.train_rows = split.train.size();
  out.test_rows = split.test.size();
  out.mean_mae = mean_error(set, split);
  for (const Category category : kCategories) {
    for (const TechniqueInfo& info : all_techniques()) {
      if (!info.of_the_paper) continue;
      if (const auto cell = evaluate_once(set, split, info, category, rng)) {
        out.cells.push_back(*cell);
      }
    }
  }
  if (out.cells.empty()) return fail(internal_error("no technique could be fitted"));
  add_influence(out);
  const auto most = std::max_element(
      out.influence.begin(), out.influence.end(),
      [](const AipInfluence& a, const AipInfluence& b) { return a.percent < b.percent; });
  if (most != out.influence.end()) out.category = most->category;
  out.mae = std::numeric_limits<double>::infinity();
  for (const AipCell& cell : out.cells) {
    if (cell.category != out.category || cell.mae >= out.mae) continue;
    out.mae = cell.mae;
    out.technique = cell.technique;
  }
  out.total_ms = milliseconds_since(start);
  return out;
}

}  // namespace berth::interference
