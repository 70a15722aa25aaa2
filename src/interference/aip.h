// The paper's three mechanisms, as it has them: MTP (fit, predict), PCE (one split, scaling on the
// training rows, mean absolute error after it is undone) and AIP (the category of parameters with
// the most influence, then the technique with the least error). Its error is optimistic: what is
// chosen by a split is reported on the same split; evaluate.h has the honest figure.
// Li et al., Journal of Computer Applications 42(6), 2022, tables 3 to 5 and 7.
#pragma once

#include <string>
#include <vector>

#include "interference/ensemble.h"
#include "interference/folds.h"

namespace berth::interference {

// PCE of one technique on one category.
struct AipCell {
  std::string technique;
  Category category = Category::kAll;
  double mae = 0;
  double fit_ms = 0;
};

struct AipInfluence {
  Category category = Category::kOther;
  double percent = 0;  // all categories together: 100, or 0 if none tells anything
};

struct AipResult {
  std::size_t train_rows = 0;
  std::size_t test_rows = 0;
  double mean_mae = 0;  // of predicting the mean training rate
  std::vector<AipCell> cells;
  std::vector<AipInfluence> influence;  // of the categories that the data have
  Category category = Category::kAll;   // the most influential
  std::string technique;                // the best there
  double mae = 0;
  double total_ms = 0;  // wall time of everything
};

// Errors: fewer than two pairs, no technique that can be fitted.
//
// Influence of a category: how much of the error of "the mean rate" the techniques remove, on
// average, when they see this category alone; in per cent of the sum over categories.
[[nodiscard]] Result<AipResult> run_aip(const TrainingSet& set, Rng rng);

// PCE: nothing if the category is empty or the technique cannot be fitted.
[[nodiscard]] std::optional<AipCell> evaluate_once(const TrainingSet& set, const Fold& split,
                                                   const TechniqueInfo& technique,
                                                   Category category, Rng rng);

}  // namespace berth::interference
