#include "interference/techniques/kernel_ridge.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numeric>

#include "interference/techniques/common.h"

namespace berth::interference {
namespace {

constexpr double kMostRows = 1500;

struct Settings {
  double gamma_factor = 1.0;
  double alpha = 0.03;
  double max_rows = kMostRows;
};

class KernelRidge final : public Regressor {
 public:
  explicit KernelRidge(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng rng) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("gamma_factor", settings_.gamma_factor, 1e-9, 1e9));
    BERTH_CHECK_OK(check_parameter("alpha", settings_.alpha, 1e-9, 1e9));
    BERTH_CHECK_OK(check_parameter("max_rows", settings_.max_rows, 2, 5000));
    gamma_ = gamma_scale(x) * settings_.gamma_factor;
    std::vector<Eigen::Index> used(static_cast<std::size_t>(x.rows()));
    std::iota(used.begin(), used.end(), Eigen::Index{0});
    if (static_cast<double>(used.size()) > settings_.max_rows) {
      rng.shuffle(std::span(used));
      used.resize(static_cast<std::size_t>(settings_.max_rows));
    }
    rows_ = x(used, Eigen::all);
    const Vector targets = y(used);
    mean_target_ = targets.mean();
    const auto n = static_cast<Eigen::Index>(used.size());
    Eigen::MatrixXd kernel(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      kernel(i, i) = 1.0 + settings_.alpha;
      for (Eigen::Index j = 0; j < i; ++j) {
        kernel(i, j) = kernel_value((rows_.row(i) - rows_.row(j)).squaredNorm());
      }
    }
    const Eigen::LLT<Eigen::MatrixXd> factor(kernel);  // reads the lower half
    weights_ = Vector::Zero(n);
    if (factor.info() != Eigen::Success) return {};  // the mean is the answer
    weights_ = factor.solve((targets.array() - mean_target_).matrix());
    if (!weights_.allFinite()) weights_.setZero();
    return {};
  }

  double predict(std::span<const double> row) const override {
    const Eigen::Map<const Eigen::RowVectorXd> values(row.data(), rows_.cols());
    double sum = mean_target_;
    for (Eigen::Index i = 0; i < rows_.rows(); ++i) {
      sum += weights_[i] * kernel_value((rows_.row(i) - values).squaredNorm());
    }
    return finite_or(sum, mean_target_);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(rows_.cols()); }

  void save(nlohmann::json& out) const override {
    out = {{"features", rows_.cols()},
           {"gamma", gamma_},
           {"mean_target", mean_target_},
           {"weights", json_array(weights_)},
           {"rows", json_array(rows_.reshaped<Eigen::RowMajor>())}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<KernelRidge>(Settings{});
    BERTH_TRY(const auto features, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->gamma_, reader.number("gamma"));
    BERTH_TRY(model->mean_target_, reader.number("mean_target"));
    BERTH_TRY(const auto weights, reader.numbers("weights"));
    const auto count = std::ssize(weights);
    BERTH_TRY(const auto rows, reader.numbers("rows", count * features));
    model->weights_ = Eigen::Map<const Vector>(weights.data(), count);
    model->rows_ = Eigen::Map<const Matrix>(rows.data(), count, features);
    return model;
  }

 private:
  [[nodiscard]] double kernel_value(double squared) const {
    const double scaled = std::sqrt(6.0 * gamma_ * squared);
    return scaled < kFarthest ? (1.0 + scaled) * std::exp(-scaled) : 0.0;
  }
  static constexpr double kFarthest = 700.0;  // where the exponential ends

  Settings settings_;
  double gamma_ = 1.0;
  double mean_target_ = 0.0;
  Vector weights_;  // one a row
  Matrix rows_;
};

}  // namespace

TechniqueInfo kernel_ridge_technique() {
  const Settings standard;
  const Params defaults = {{"gamma_factor", standard.gamma_factor},
                           {"alpha", standard.alpha},
                           {"max_rows", standard.max_rows}};
  return {.name = "kernel-ridge",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"gamma_factor", 0.3}}),
                   with(defaults, {{"alpha", 0.01}}), with(defaults, {{"gamma_factor", 3.0}})},
          .make = [](const Params& params) -> std::unique_ptr<Regressor> {
            Settings settings;
            settings.gamma_factor = parameter(params, "gamma_factor", settings.gamma_factor);
            settings.alpha = parameter(params, "alpha", settings.alpha);
            settings.max_rows = parameter(params, "max_rows", settings.max_rows);
            return std::make_unique<KernelRidge>(settings);
          },
          .load = KernelRidge::load,
          .of_the_paper = false};
}

}  // namespace berth::interference
