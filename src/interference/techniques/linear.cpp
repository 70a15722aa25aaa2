#include "interference/techniques/linear.h"

#include <Eigen/QR>
#include <algorithm>
#include <limits>

#include "interference/techniques/common.h"

namespace berth::interference {
namespace {

class Linear final : public Regressor {
 public:
  Status fit(const Matrix& x, const Vector& y, Rng /*rng*/) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    const Eigen::RowVectorXd means = x.colwise().mean();
    mean_target_ = y.mean();
    const Eigen::MatrixXd centred = x.rowwise() - means;
    // Pivots below the rounding of the largest are zero: a direction that the rows do not show gets
    // no weight.
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
    solver.setThreshold(std::numeric_limits<double>::epsilon() *
                        static_cast<double>(std::max(x.rows(), x.cols())));
    solver.compute(centred);
    weights_ = solver.solve((y.array() - mean_target_).matrix());
    if (!(weights_.cwiseAbs().maxCoeff() <= kMaxModelNumber)) weights_.setZero();
    intercept_ = finite_or(mean_target_ - means.dot(weights_), mean_target_);
    return {};
  }

  double predict(std::span<const double> row) const override {
    const Eigen::Map<const Vector> values(row.data(), weights_.size());
    return finite_or(values.dot(weights_) + intercept_, mean_target_);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(weights_.size()); }

  void save(nlohmann::json& out) const override {
    out = {{"weights", json_array(weights_)},
           {"intercept", intercept_},
           {"mean_target", mean_target_}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<Linear>();
    BERTH_TRY(const auto weights, reader.numbers("weights"));
    if (weights.empty()) return fail(damaged_model("weights", "no values", "one a feature"));
    BERTH_TRY(model->intercept_, reader.number("intercept"));
    BERTH_TRY(model->mean_target_, reader.number("mean_target"));
    model->weights_ = Eigen::Map<const Vector>(weights.data(), std::ssize(weights));
    return model;
  }

 private:
  Vector weights_;
  double intercept_ = 0.0;
  double mean_target_ = 0.0;
};

}  // namespace

TechniqueInfo linear_technique() {
  return {.name = "linear",
          .defaults = {},
          .grid = {Params{}},
          .make = [](const Params&) -> std::unique_ptr<Regressor> {
            return std::make_unique<Linear>();
          },
          .load = Linear::load};
}

}  // namespace berth::interference
