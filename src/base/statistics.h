// Summaries of samples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth {

// Linear interpolation between order statistics (Hyndman and Fan 1996, type 7); reorders `values`,
// which must not be empty.
[[nodiscard]] double quantile(std::vector<double>& values, double q);

// The 97.5 % quantile of Student's t with `degrees` >= 1 degrees of freedom, to 1e-4.
[[nodiscard]] double student_t_975(std::size_t degrees);

struct MeanInterval {
  double mean = 0;
  double low = 0;  // of the 95 % interval of the mean; equal to `mean` for fewer than 2 samples
  double high = 0;
};
// `values` must not be empty.
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values);

}  // namespace berth
