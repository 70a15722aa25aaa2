#include "interference/techniques/spd_inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "base/random.h"

namespace berth::interference {
namespace {

TEST(SpdInverse, TimesTheMatrixIsTheIdentity) {
  Rng rng(6);
  for (const Eigen::Index n : {1, 2, 24, 25, 49, 130}) {
    Eigen::MatrixXd roots(n, n);
    for (Eigen::Index i = 0; i < roots.size(); ++i) roots.data()[i] = rng.normal();
    const Eigen::MatrixXd matrix = roots * roots.transpose() + Eigen::MatrixXd::Identity(n, n);
    const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
    Eigen::MatrixXd lower = factor.matrixLLT();
    invert_from_factor(lower);
    const Eigen::MatrixXd inverse = lower.selfadjointView<Eigen::Lower>();
    EXPECT_TRUE((inverse * matrix).isIdentity(1e-9)) << n;
  }
}

}  // namespace
}  // namespace berth::interference
