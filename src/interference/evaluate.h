// How well rates are predicted: every technique as it comes, and the honest selection, on the same
// folds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interference/ensemble.h"
#include "interference/folds.h"

namespace berth::interference {

// Errors are of the interference rate itself, over all tested rows.
struct Score {
  std::string name;
  std::string category;
  double mae = 0;
  double mae_sd = 0;  // between foldings; between folds where there is one folding
  double rmse = 0;
  std::optional<double> r2;        // nothing if all rates are equal
  std::optional<double> coverage;  // of the 90 % interval; nothing if it could not be measured
  double fit_ms = 0;               // mean time of a fit, selection included
  double predict_us = 0;           // mean time of a prediction
};

// How often something was chosen, over all folds; most frequent first.
struct Choice {
  std::string name;
  std::size_t folds = 0;
};

// A single feature that almost gives the rate away.
struct SuspectedLeak {
  std::string feature;
  double correlation = 0;  // of ranks, absolute
};

struct TestedRow {
  std::size_t row = 0;  // in Dataset::rows
  double measured = 0;
  Prediction predicted;
};

struct Evaluation {
  Mode mode = Mode::kSolo;
  std::size_t foldings = 0;
  std::size_t folds = 0;  // of all foldings
  std::size_t tested = 0;
  Score mean;                       // predicting the mean rate of the training rows
  std::vector<Score> techniques;    // those that could be fitted
  std::vector<std::string> failed;  // "name: why" of the others
  Score selected;
  std::vector<Choice> leading;     // techniques with the largest weight
  std::vector<Choice> members;     // techniques with any weight
  std::vector<Choice> categories;  // of the leading member
  std::vector<TestedRow> rows;     // of the first folding, by the selected model
  std::vector<SuspectedLeak> leaks;
};

struct EvaluateOptions {
  bool techniques = true;                                           // or the selected model only
  unsigned threads = 2;                                             // results do not depend on it
  std::function<void(std::size_t done, std::size_t all)> progress;  // from any thread, in turn
};

// What the techniques of the paper see: change rates in mode kMeasured, both profiles in kSolo.
[[nodiscard]] FeatureView paper_view(const FeatureMap& map);

[[nodiscard]] Result<Evaluation> evaluate(const TrainingSet& set, const FoldPlan& plan, Rng rng,
                                          const EvaluateOptions& options);

// Features whose rank correlation with the rate is near perfect: the target in disguise.
[[nodiscard]] std::vector<SuspectedLeak> find_leaks(const TrainingSet& set);

}  // namespace berth::interference
