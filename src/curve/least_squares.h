// Least squares with few unknowns: weighted, and none of the unknowns negative.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace berth {

// Minimises the sum of weight * (row . x - y)^2 over the observations that were added.
template <std::size_t kUnknowns>
class LeastSquares {
 public:
  using Vector = std::array<double, kUnknowns>;

  void add(const Vector& row, double y, double weight = 1.0) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t j = 0; j <= i; ++j) products_[i][j] += weight * row[i] * row[j];
      sums_[i] += weight * row[i] * y;
    }
  }

  // The x >= 0 with the least sum. At the optimum the unknowns that are not 0 solve the problem
  // without the others: with so few unknowns all choices of them are tried.
  [[nodiscard]] Vector non_negative() const {
    static_assert(kUnknowns <= 4, "tries 2^kUnknowns choices");
    constexpr unsigned kAll = (1U << kUnknowns) - 1;
    Vector best{};
    double least = 0.0;  // of the sum, less what no x changes
    for (unsigned chosen = kAll; chosen > 0; --chosen) {
      const std::optional<Vector> x = solve(chosen);
      if (!x) continue;
      const double sum = value(*x);
      if (sum < least) {
        least = sum;
        best = *x;
      }
      // Nothing is better than the solution without a bound.
      if (chosen == kAll) break;
    }
    return best;
  }

 private:
  // By Cholesky's decomposition. Nothing if it is singular, or an unknown is negative.
  [[nodiscard]] std::optional<Vector> solve(unsigned chosen) const {
    constexpr double kSingular = 1e-13;
    std::array<std::size_t, kUnknowns> at{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if ((chosen >> i & 1U) != 0) at[n++] = i;
    }
    std::array<Vector, kUnknowns> low{};
    Vector z{};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double sum = products_[at[i]][at[j]];
        for (std::size_t k = 0; k < j; ++k) sum -= low[i][k] * low[j][k];
        low[i][j] = sum / low[j][j];
      }
      const double whole = products_[at[i]][at[i]];
      double pivot = whole;
      for (std::size_t k = 0; k < i; ++k) pivot -= low[i][k] * low[i][k];
      if (!(pivot > kSingular * whole)) return std::nullopt;
      low[i][i] = std::sqrt(pivot);
      z[i] = sums_[at[i]];
      for (std::size_t k = 0; k < i; ++k) z[i] -= low[i][k] * z[k];
      z[i] /= low[i][i];
    }
    Vector x{};
    for (std::size_t i = n; i-- > 0;) {
      double sum = z[i];
      for (std::size_t k = i + 1; k < n; ++k) sum -= low[k][i] * x[at[k]];
      x[at[i]] = sum / low[i][i];
      if (!(x[at[i]] >= 0.0)) return std::nullopt;
    }
    return x;
  }

  [[nodiscard]] double value(const Vector& x) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      sum += x[i] * (products_[i][i] * x[i] - 2.0 * sums_[i]);
      for (std::size_t j = 0; j < i; ++j) sum += 2.0 * products_[i][j] * x[i] * x[j];
    }
    return sum;
  }

  std::array<Vector, kUnknowns> products_{};  // lower half
  Vector sums_{};
};

}  // namespace berth
