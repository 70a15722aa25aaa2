#include "interference/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include "base/text.h"
#include "interference/metrics.h"
#include "interference/parallel.h"

namespace berth::interference {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeakCorrelation = 0.98;
constexpr std::size_t kFewestForLeak = 10;  // different values; few are perfectly ordered by chance

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// What one model said about the test rows of one fold.
struct FoldPrediction {
  std::vector<Prediction> rows;
  double fit_us = 0;
  double predict_us = 0;  // of one row
  std::string error;      // not empty: could not be fitted
};

struct FoldResult {
  std::vector<FoldPrediction> techniques;
  FoldPrediction selected;
  FoldPrediction mean;
  std::string leading;
  std::string leading_label;
  std::string name;
  std::string category;
  Status status;
};

struct Task {
  std::size_t folding;
  std::size_t fold;
};

class Evaluator {
 public:
  Evaluator(const TrainingSet& set, const FoldPlan& plan, Rng rng, const EvaluateOptions& options)
      : set_(set), plan_(plan), rng_(rng), options_(options) {
    for (std::size_t i = 0; i < plan.foldings.size(); ++i) {
      for (std::size_t f = 0; f < plan.foldings[i].folds.size(); ++f) tasks_.push_back({i, f});
    }
    results_.resize(tasks_.size());
  }

  Result<Evaluation> run() {
    std::mutex mutex;
    std::size_t done = 0;
    parallel_for(tasks_.size(), options_.threads, [&](std::size_t i) {
      results_[i] = run_fold(tasks_[i]);
      if (!options_.progress) return;
      const std::lock_guard lock(mutex);
      options_.progress(++done, tasks_.size());
    });
    for (const FoldResult& result : results_) BERTH_CHECK_OK(result.status);
    return summarise();
  }

 private:
  using Pick = std::function<const FoldPrediction&(const FoldResult&)>;

  [[nodiscard]] const Fold& fold_of(const Task& task) const {
    return plan_.foldings[task.folding].folds[task.fold];
  }
  [[nodiscard]] FoldResult run_fold(const Task& task) const;
  [[nodiscard]] FoldPrediction run_mean(const Fold& fold) const;
  [[nodiscard]] FoldPrediction run_technique(const TechniqueInfo& info, const Fold& fold) const;
  [[nodiscard]] Status run_selected(const Fold& fold, FoldResult& result) const;
  [[nodiscard]] Evaluation summarise() const;
  [[nodiscard]] Score score(std::string name, const Pick& pick) const;
  void add_intervals(const Pick& pick, Score& out) const;

  const TrainingSet& set_;
  const FoldPlan& plan_;
  Rng rng_;
  const EvaluateOptions& options_;
  std::vector<Task> tasks_;
  std::vector<FoldResult> results_;
};

FoldResult Evaluator::run_fold(const Task& task) const {
  FoldResult result;
  const Fold& fold = fold_of(task);
  result.mean = run_mean(fold);
  if (options_.techniques) {
    for (const TechniqueInfo& info : all_techniques()) {
      result.techniques.push_back(run_technique(info, fold));
    }
  }
  result.status = run_selected(fold, result);
  return result;
}

FoldPrediction Evaluator::run_mean(const Fold& fold) const {
  double sum = 0;
  for (const std::size_t row : fold.train) sum += set_.rate(static_cast<Eigen::Index>(row));
  const double mean = sum / static_cast<double>(fold.train.size());
  FoldPrediction out;
  out.rows.assign(fold.test.size(), {mean, kMissingValue, kMissingValue});
  return out;
}

// PCE of the paper: features and target standardised on the training rows, the technique with its
// default parameters, errors after the scaling is undone.
FoldPrediction Evaluator::run_technique(const TechniqueInfo& info, const Fold& fold) const {
  FoldPrediction out;
  const auto start = Clock::now();
  Scaler scaler;
  scaler.fit(set_.map.features(), set_.raw, fold.train);
  Prepared prepared{fold.train, scaler.apply(set_.raw, fold.train), {}};
  Vector target(static_cast<Eigen::Index>(fold.train.size()));
  for (std::size_t i = 0; i < fold.train.size(); ++i) {
    target(static_cast<Eigen::Index>(i)) = set_.rate(static_cast<Eigen::Index>(fold.train[i]));
  }
  const Candidate candidate{std::string(info.name), info.defaults, paper_view(set_.map), false};
  const auto member =
      Member::fit(candidate, set_.map.features(), *set_.data, prepared, target, rng_);
  if (!member) {
    out.error = member.error().text();
    return out;
  }
  out.fit_us = microseconds_since(start);
  const Matrix x = scaler.apply(set_.raw, fold.test);
  const auto before = Clock::now();
  for (std::size_t i = 0; i < fold.test.size(); ++i) {
    const Query query{
        {x.row(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(x.cols())},
        {},
        {},
        {}};
    out.rows.push_back({member->predict(query), kMissingValue, kMissingValue});
  }
  out.predict_us = microseconds_since(before) / static_cast<double>(fold.test.size());
  return out;
}

Status Evaluator::run_selected(const Fold& fold, FoldResult& result) const {
  const auto start = Clock::now();
  BERTH_TRY(const Ensemble model, Ensemble::fit(set_, fold.train, plan_.kind, rng_));
  result.selected.fit_us = microseconds_since(start);
  const auto before = Clock::now();
  for (const std::size_t row : fold.test) {
    const Row& jobs = set_.data->rows[row];
    result.selected.rows.push_back(
        model.predict({set_.raw.row(static_cast<Eigen::Index>(row)).data(),
                       static_cast<std::size_t>(set_.raw.cols())},
                      jobs.subject, jobs.corunners));
  }
  result.selected.predict_us = microseconds_since(before) / static_cast<double>(fold.test.size());
  result.leading = model.leading().technique;
  result.leading_label = model.leading().label();
  result.name = model.name();
  result.category = category_name(model.leading().view.category);
  return {};
}

Score Evaluator::score(std::string name, const Pick& pick) const {
  Score out;
  out.name = std::move(name);
  std::vector<double> measured;
  std::vector<double> predicted;
  std::vector<double> by_folding;
  std::vector<double> by_fold;
  double inside = 0;
  std::size_t with_interval = 0;
  for (std::size_t folding = 0; folding < plan_.foldings.size(); ++folding) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].folding != folding) continue;
      const Fold& fold = fold_of(tasks_[t]);
      const FoldPrediction& prediction = pick(results_[t]);
      double fold_sum = 0;
      for (std::size_t i = 0; i < fold.test.size(); ++i) {
        const double rate = set_.rate(static_cast<Eigen::Index>(fold.test[i]));
        const Prediction& p = prediction.rows[i];
        measured.push_back(rate);
        predicted.push_back(p.rate);
        fold_sum += std::abs(p.rate - rate);
        if (std::isnan(p.low)) continue;
        ++with_interval;
        inside += p.low <= rate && rate <= p.high ? 1.0 : 0.0;
      }
      sum += fold_sum;
      count += fold.test.size();
      by_fold.push_back(fold_sum / static_cast<double>(fold.test.size()));
      out.fit_ms += prediction.fit_us / 1000.0 / static_cast<double>(tasks_.size());
      out.predict_us += prediction.predict_us / static_cast<double>(tasks_.size());
    }
    by_folding.push_back(sum / static_cast<double>(count));
  }
  const ErrorMeasures errors = measure_errors(measured, predicted);
  out.mae = errors.mae;
  out.rmse = errors.rmse;
  out.r2 = errors.r2;
  out.mae_sd = standard_deviation(by_folding.size() > 1 ? by_folding : by_fold);
  if (with_interval > 0) out.coverage = inside / static_cast<double>(with_interval);
  return out;
}

// A technique alone has no interval of its own: the errors in the other folds of the folding give
// one.
void Evaluator::add_intervals(const Pick& pick, Score& out) const {
  double inside = 0;
  double count = 0;
  for (std::size_t folding = 0; folding < plan_.foldings.size(); ++folding) {
    std::vector<std::pair<double, std::size_t>> errors;  // and their fold
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].folding != folding) continue;
      const Fold& fold = fold_of(tasks_[t]);
      for (std::size_t i = 0; i < fold.test.size(); ++i) {
        errors.emplace_back(std::abs(pick(results_[t]).rows[i].rate -
                                     set_.rate(static_cast<Eigen::Index>(fold.test[i]))),
                            tasks_[t].fold);
      }
    }
    std::sort(errors.begin(), errors.end());
    for (std::size_t f = 0; f < plan_.foldings[folding].folds.size(); ++f) {
      std::vector<double> others;
      for (const auto& [error, fold] : errors) {
        if (fold != f) others.push_back(error);
      }
      if (others.empty()) continue;
      const auto rank =
          static_cast<std::size_t>(std::ceil(kCoverage * static_cast<double>(others.size() + 1)));
      const double half = others[std::min(rank, others.size()) - 1];
      for (const auto& [error, fold] : errors) {
        if (fold != f) continue;
        count += 1;
        inside += error <= half ? 1.0 : 0.0;
      }
    }
  }
  if (count > 0) out.coverage = inside / count;
}

std::vector<Choice> by_frequency(const std::map<std::string, std::size_t>& counts) {
  std::vector<Choice> out;
  for (const auto& [name, folds] : counts) out.push_back({name, folds});
  std::stable_sort(out.begin(), out.end(),
                   [](const Choice& a, const Choice& b) { return a.folds > b.folds; });
  return out;
}

Evaluation Evaluator::summarise() const {
  Evaluation out;
  out.mode = set_.map.mode();
  out.foldings = plan_.foldings.size();
  out.folds = tasks_.size();
  out.mean = score("mean", [](const FoldResult& r) -> const FoldPrediction& { return r.mean; });
  if (options_.techniques) {
    const auto all = all_techniques();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Pick pick = [k](const FoldResult& r) -> const FoldPrediction& {
        return r.techniques[k];
      };
      const auto bad = std::find_if(results_.begin(), results_.end(),
                                    [&](const FoldResult& r) { return !pick(r).error.empty(); });
      if (bad != results_.end()) {
        out.failed.push_back(fmt::format("{}: {}", all[k].name, pick(*bad).error));
        continue;
      }
      Score technique = score(std::string(all[k].name), pick);
      technique.category = category_name(Category::kAll);
      add_intervals(pick, technique);
      out.techniques.push_back(std::move(technique));
    }
  }
  out.selected =
      score("selected", [](const FoldResult& r) -> const FoldPrediction& { return r.selected; });
  std::map<std::string, std::size_t> names;
  std::map<std::string, std::size_t> leading;
  std::map<std::string, std::size_t> members;
  std::map<std::string, std::size_t> categories;
  for (const FoldResult& result : results_) {
    ++names[result.name];
    ++leading[result.leading_label];
    ++categories[result.category];
    for (const auto part : split(result.name, '+')) ++members[std::string(part)];
  }
  out.leading = by_frequency(leading);
  out.members = by_frequency(members);
  out.categories = by_frequency(categories);
  out.selected.name = by_frequency(names).front().name;
  out.selected.category = out.categories.front().name;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Fold& fold = fold_of(tasks_[t]);
    if (tasks_[t].folding != 0) continue;
    for (std::size_t i = 0; i < fold.test.size(); ++i) {
      out.rows.push_back({fold.test[i], set_.rate(static_cast<Eigen::Index>(fold.test[i])),
                          results_[t].selected.rows[i]});
    }
  }
  out.tested = out.rows.size();
  out.leaks = find_leaks(set_);
  return out;
}

}  // namespace

FeatureView paper_view(const FeatureMap& map) {
  return {Category::kAll, false, map.mode() == Mode::kMeasured};
}

Result<Evaluation> evaluate(const TrainingSet& set, const FoldPlan& plan, Rng rng,
                            const EvaluateOptions& options) {
  return Evaluator(set, plan, rng, options).run();
}

std::vector<SuspectedLeak> find_leaks(const TrainingSet& set) {
  std::vector<SuspectedLeak> out;
  const auto features = set.map.features();
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::vector<double> values;
    std::vector<double> rates;
    for (Eigen::Index row = 0; row < set.raw.rows(); ++row) {
      const double value = set.raw(row, static_cast<Eigen::Index>(f));
      if (std::isnan(value)) continue;
      values.push_back(value);
      rates.push_back(set.rate(row));
    }
    std::vector<double> different = values;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    if (different.size() < kFewestForLeak) continue;
    const double correlation = std::abs(rank_correlation(values, rates));
    if (correlation >= kLeakCorrelation) out.push_back({features[f].name, correlation});
  }
  return out;
}

}  // namespace berth::interference
