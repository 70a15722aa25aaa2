// Measures of error, and ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace berth::interference {

struct ErrorMeasures {
  double mae = 0;
  double rmse = 0;
  std::optional<double> r2;  // nothing if the measured values are all equal
};
// Spans of equal length, at least 1.
[[nodiscard]] ErrorMeasures measure_errors(std::span<const double> measured,
                                           std::span<const double> predicted);

// Spearman's correlation with mid-ranks for ties; 0 if a side is constant or shorter than 3.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

// Of a sample; 0 for fewer than 2 values.
[[nodiscard]] double standard_deviation(std::span<const double> values);

}  // namespace berth::interference
