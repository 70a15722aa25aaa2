// The true course of a training job: its loss and accuracy after each iteration.
#pragma once

#include <cstdint>
#include <optional>

namespace berth {

// A power law that levels off, as fits of measured curves do (Domhan, Springenberg and Hutter,
// IJCAI 2015, family "pow3"), and after its peak, if it has one, a straight decline: overfitting.
//   loss(i)     = final_loss + (first_loss - final_loss) * (1 + i / half_iterations)^-exponent
//   accuracy(i) = last - (last - first) * (1 + i / half_iterations)^-exponent
//                 - decline_per_iteration * max(0, i - peak_iteration)
struct LearningCurve {
  double first_loss = 1.0;
  double final_loss = 0.0;
  double first_accuracy = 0.0;  // in [0, 1]
  double last_accuracy = 1.0;   // reached after ever so many iterations, without a decline
  double half_iterations = 1.0;
  double exponent = 1.0;
  std::int64_t peak_iteration = -1;  // -1: none
  double decline_per_iteration = 0.0;

  [[nodiscard]] double loss(std::int64_t iteration) const;
  // In [0, 1].
  [[nodiscard]] double accuracy(std::int64_t iteration) const;
  // The best accuracy within `iterations`, and where.
  [[nodiscard]] std::int64_t best_iteration(std::int64_t iterations) const;
  // Where a job stops that stops by itself (OptStop of MLFS's load control): at the first twentieth
  // of its iterations that brought less than 0.1 points of accuracy. By what it has shown so far.
  static constexpr std::int64_t kOptStopParts = 20;
  static constexpr double kOptStopLeastGain = 0.001;
  [[nodiscard]] std::int64_t opt_stop_iteration(std::int64_t iterations) const;
  // The first iteration, at most `iterations`, after which the accuracy is at least this.
  [[nodiscard]] std::optional<std::int64_t> first_reaching(double accuracy,
                                                           std::int64_t iterations) const;
};

}  // namespace berth
