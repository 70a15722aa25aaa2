// The inverse of a symmetric positive definite matrix from its Cholesky factor, by halves: a third
// of the work of solving for every unit vector.
#pragma once

#include <Eigen/Core>

namespace berth::interference {

// In: the lower factor L of K = L L'. Out: the lower half of K^-1, in its place; what is above the
// diagonal is neither read nor meant.
void invert_from_factor(Eigen::Ref<Eigen::MatrixXd> lower);

}  // namespace berth::interference
