#include "interference/techniques/spd_inverse.h"

namespace berth::interference {
namespace {

using Block = Eigen::Ref<Eigen::MatrixXd>;

constexpr Eigen::Index kSmall = 24;

// L := L^-1, column by column.
void invert_small(Block lower) {
  for (Eigen::Index j = 0; j < lower.cols(); ++j) {
    lower(j, j) = 1.0 / lower(j, j);
    for (Eigen::Index i = j + 1; i < lower.rows(); ++i) {
      double sum = 0.0;
      for (Eigen::Index k = j; k < i; ++k) sum += lower(i, k) * lower(k, j);
      lower(i, j) = -sum / lower(i, i);
    }
  }
}

// L := L^-1: [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1  C^-1].
void invert_triangle(Block lower) {
  const Eigen::Index n = lower.rows();
  if (n <= kSmall) return invert_small(lower);
  const Eigen::Index half = n / 2;
  Block top = lower.topLeftCorner(half, half);
  Block corner = lower.bottomLeftCorner(n - half, half);
  Block bottom = lower.bottomRightCorner(n - half, n - half);
  invert_triangle(top);
  invert_triangle(bottom);
  const Eigen::MatrixXd right = corner * top.triangularView<Eigen::Lower>();
  corner.noalias() = bottom.triangularView<Eigen::Lower>() * (-right);
}

void square_small(Block lower) {
  const Eigen::Index n = lower.rows();
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) {
      lower(i, j) = lower.col(i).tail(n - i).dot(lower.col(j).tail(n - i));
    }
  }
}

// L := lower half of L'L: [P 0; Q R]'[P 0; Q R] = [P'P + Q'Q, .; R'Q, R'R].
void square_triangle(Block lower) {
  const Eigen::Index n = lower.rows();
  if (n <= kSmall) return square_small(lower);
  const Eigen::Index half = n / 2;
  Block top = lower.topLeftCorner(half, half);
  Block corner = lower.bottomLeftCorner(n - half, half);
  Block bottom = lower.bottomRightCorner(n - half, n - half);
  square_triangle(top);
  top.selfadjointView<Eigen::Lower>().rankUpdate(corner.transpose());
  corner = bottom.triangularView<Eigen::Lower>().transpose() * Eigen::MatrixXd(corner);
  square_triangle(bottom);
}

}  // namespace

void invert_from_factor(Eigen::Ref<Eigen::MatrixXd> lower) {
  invert_triangle(lower);
  square_triangle(lower);
}

}  // namespace berth::interference
