#include "interference/techniques/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "interference/techniques/common.h"
#include "interference/techniques/minimise.h"
#include "interference/techniques/spd_inverse.h"

namespace berth::interference {
namespace {

const double kRoot5 = std::sqrt(5.0);
// Beyond so many features each has the same length: the search would cost too much.
constexpr Eigen::Index kMaxLengths = 64;

// Bounds of the logarithms, for features and targets of unit variance.
const double kMinLength = std::log(1e-2);
const double kMaxLength = std::log(1e3);
const double kMinSignal = std::log(1e-2);
const double kMaxSignal = std::log(1e3);
const double kMinNoise = std::log(1e-6);
const double kMaxNoise = std::log(1e1);

// Matern 5/2 at a distance measured in lengths.
double matern(double distance) {
  const double scaled = kRoot5 * distance;
  return (1.0 + scaled + scaled * scaled / 3.0) * std::exp(-scaled);
}

// The negative logarithm of the marginal likelihood of standardised targets, and of the prior.
// Parameters are logarithms: signal variance, noise variance, then one length or one a feature.
class Likelihood {
 public:
  Likelihood(const Matrix& x, const Vector& y) : x_(x), y_(y), kernel_(x.rows(), x.rows()) {
    slope_.resize(x.rows(), x.rows());
  }

  // Normal prior of the logarithms of the lengths.
  void set_prior(double centre, double spread) {
    prior_centre_ = centre;
    prior_spread_ = spread;
  }

  double operator()(const Vector& parameters, Vector& gradient) {
    const Vector inverse_lengths = lengths(parameters).cwiseInverse();
    const Matrix scaled = x_ * inverse_lengths.asDiagonal();
    fill_kernel(scaled, std::exp(parameters[0]), std::exp(parameters[1]));
    const Eigen::LLT<Eigen::MatrixXd> factor(kernel_);
    if (factor.info() != Eigen::Success) return HUGE_VAL;
    const Vector weights = factor.solve(y_);
    const double log_determinant = factor.matrixLLT().diagonal().array().log().sum();
    inverse_ = factor.matrixLLT();
    invert_from_factor(inverse_);
    set_gradient(scaled, weights, parameters, gradient);
    return 0.5 * y_.dot(weights) + log_determinant + add_prior(parameters, gradient);
  }

  [[nodiscard]] Vector lengths(const Vector& parameters) const {
    if (parameters.size() == 3) return Vector::Constant(x_.cols(), std::exp(parameters[2]));
    return parameters.tail(x_.cols()).array().exp();
  }

 private:
  void fill_kernel(const Matrix& scaled, double signal, double noise) {
    for (Eigen::Index i = 0; i < scaled.rows(); ++i) {
      kernel_(i, i) = signal + noise + signal * kJitter;
      for (Eigen::Index j = 0; j < i; ++j) {
        const double distance = kRoot5 * (scaled.row(i) - scaled.row(j)).norm();
        const double decay = signal * std::exp(-distance);
        kernel_(i, j) = decay * (1.0 + distance + distance * distance / 3.0);
        // d kernel / d log length, but for the feature's own squared difference.
        slope_(i, j) = decay * (1.0 + distance) * (5.0 / 3.0);
      }
    }
  }

  // d/d theta = 1/2 trace((K^-1 - a a') dK/d theta), a = K^-1 y.
  void set_gradient(const Matrix& scaled, const Vector& weights, const Vector& parameters,
                    Vector& gradient) const {
    const double noise = std::exp(parameters[1]);
    const double signal = std::exp(parameters[0]);
    Vector by_feature = Vector::Zero(scaled.cols());
    double by_signal = 0.0;
    double by_noise = 0.0;
    for (Eigen::Index i = 0; i < scaled.rows(); ++i) {
      const double own = 0.5 * (inverse_(i, i) - weights[i] * weights[i]);
      by_noise += own * noise;
      by_signal += own * signal;
      for (Eigen::Index j = 0; j < i; ++j) {
        const double both = inverse_(i, j) - weights[i] * weights[j];
        by_signal += both * kernel_(i, j);
        add_squares(scaled.row(i).data(), scaled.row(j).data(), both * slope_(i, j), by_feature);
      }
    }
    gradient[0] = by_signal;
    gradient[1] = by_noise;
    if (parameters.size() == 3) {
      gradient[2] = by_feature.sum();
    } else {
      gradient.tail(scaled.cols()) = by_feature;
    }
  }

  static void add_squares(const double* a, const double* b, double factor, Vector& sums) {
    for (Eigen::Index k = 0; k < sums.size(); ++k) {
      const double difference = a[k] - b[k];
      sums[k] += factor * difference * difference;
    }
  }

  double add_prior(const Vector& parameters, Vector& gradient) const {
    if (prior_spread_ <= 0.0) return 0.0;
    double penalty = 0.0;
    for (Eigen::Index k = 2; k < parameters.size(); ++k) {
      const double off = (parameters[k] - prior_centre_) / prior_spread_;
      penalty += 0.5 * off * off;
      gradient[k] += off / prior_spread_;
    }
    return penalty;
  }

  static constexpr double kJitter = 1e-10;

  const Matrix& x_;
  const Vector& y_;
  double prior_centre_ = 0.0;
  double prior_spread_ = 0.0;
  Eigen::MatrixXd kernel_;  // lower halves
  Eigen::MatrixXd slope_;
  Eigen::MatrixXd inverse_;
};

struct Settings {
  double spread = 1.0;
  double tune_rows = 400.0;
  double max_rows = 1000.0;
  double evaluations = 40.0;
};

struct Hyperparameters {
  double signal = 1.0;
  double noise = 0.1;
  Vector lengths;
};

Hyperparameters tune(const Matrix& x, const Vector& y, const Settings& settings) {
  Likelihood likelihood(x, y);
  const MinimiseOptions options{.max_evaluations = static_cast<int>(settings.evaluations)};
  const auto objective = [&](const Vector& point, Vector& gradient) {
    return likelihood(point, gradient);
  };
  const auto search = [&](const Vector& start) {
    Vector low = Vector::Constant(start.size(), kMinLength);
    Vector high = Vector::Constant(start.size(), kMaxLength);
    low.head(2) << kMinSignal, kMinNoise;
    high.head(2) << kMaxSignal, kMaxNoise;
    return minimise(objective, start, low, high, options).point;
  };
  Vector point(3);
  point << 0.0, std::log(0.05), 0.5 * std::log(static_cast<double>(x.cols()));
  point = search(point);
  if (settings.spread > 0.0 && x.cols() > 1 && x.cols() <= kMaxLengths) {
    Vector start = Vector::Constant(2 + x.cols(), point[2]);
    start.head(2) = point.head(2);
    likelihood.set_prior(point[2], settings.spread);
    point = search(start);
  }
  return {std::exp(point[0]), std::exp(point[1]), likelihood.lengths(point)};
}

class GaussianProcess final : public Regressor {
 public:
  explicit GaussianProcess(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng rng) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("spread", settings_.spread, 0, 100));
    BERTH_CHECK_OK(check_parameter("tune_rows", settings_.tune_rows, 2, 5000));
    BERTH_CHECK_OK(check_parameter("max_rows", settings_.max_rows, 2, 5000));
    BERTH_CHECK_OK(check_parameter("evaluations", settings_.evaluations, 1, 1000));
    mean_target_ = y.mean();
    const double sd = std::sqrt((y.array() - mean_target_).square().mean());
    features_ = x.cols();
    rows_.resize(0, features_);
    weights_.resize(0);
    lengths_ = Vector::Ones(features_);
    if (!(sd > 0.0)) return {};  // the mean is the answer

    const auto drawn = draw(x.rows(), rng);
    const auto most = [&](double bound) {
      return std::min(std::ssize(drawn), static_cast<std::ptrdiff_t>(bound));
    };
    const std::vector<Eigen::Index> some(drawn.begin(), drawn.begin() + most(settings_.tune_rows));
    const std::vector<Eigen::Index> many(drawn.begin(), drawn.begin() + most(settings_.max_rows));
    const Vector targets = (y.array() - mean_target_) / sd;
    const auto found = tune(x(some, Eigen::all), targets(some), settings_);
    solve(x(many, Eigen::all), targets(many), found, sd);
    return {};
  }

  double predict(std::span<const double> row) const override {
    const Eigen::Map<const Vector> values(row.data(), features_);
    const Eigen::RowVectorXd scaled = values.cwiseQuotient(lengths_).transpose();
    double sum = mean_target_;
    for (Eigen::Index i = 0; i < rows_.rows(); ++i) {
      sum += weights_[i] * matern((rows_.row(i) - scaled).norm());
    }
    return finite_or(sum, mean_target_);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(features_); }

  void save(nlohmann::json& out) const override {
    out = {{"features", features_},
           {"mean_target", mean_target_},
           {"lengths", json_array(lengths_)},
           {"weights", json_array(weights_)},
           {"rows", json_array(rows_.reshaped<Eigen::RowMajor>())}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<GaussianProcess>(Settings{});
    BERTH_TRY(const auto features, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->mean_target_, reader.number("mean_target"));
    BERTH_TRY(const auto lengths, reader.numbers("lengths", features));
    BERTH_TRY(const auto weights, reader.numbers("weights"));
    const auto count = std::ssize(weights);
    BERTH_TRY(const auto rows, reader.numbers("rows", count * features));
    model->features_ = features;
    model->lengths_ = Eigen::Map<const Vector>(lengths.data(), features);
    model->weights_ = Eigen::Map<const Vector>(weights.data(), count);
    model->rows_ = Eigen::Map<const Matrix>(rows.data(), count, features);
    return model;
  }

 private:
  // All rows, in random order when there are more than the search looks at.
  [[nodiscard]] std::vector<Eigen::Index> draw(Eigen::Index rows, Rng& rng) const {
    std::vector<Eigen::Index> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    const double looked_at = std::min(settings_.tune_rows, settings_.max_rows);
    if (static_cast<double>(rows) > looked_at) rng.shuffle(std::span(order));
    return order;
  }

  // Rows that are nearly the same make the kernel singular: the diagonal grows until it is not.
  void solve(const Matrix& x, const Vector& targets, const Hyperparameters& found, double sd) {
    lengths_ = found.lengths;
    rows_ = x * lengths_.cwiseInverse().asDiagonal();
    const Eigen::Index n = x.rows();
    Eigen::MatrixXd kernel(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      kernel(i, i) = found.signal + found.noise;
      for (Eigen::Index j = 0; j < i; ++j) {
        kernel(i, j) = found.signal * matern((rows_.row(i) - rows_.row(j)).norm());
      }
    }
    for (double jitter = 1e-10; jitter < 1.0; jitter *= 100.0) {
      kernel.diagonal().array() += jitter * found.signal;
      const Eigen::LLT<Eigen::MatrixXd> factor(kernel);
      if (factor.info() != Eigen::Success) continue;
      weights_ = factor.solve(targets) * (found.signal * sd);
      if (weights_.allFinite()) return;
    }
    weights_ = Vector::Zero(n);
  }

  Settings settings_;
  Eigen::Index features_ = 0;
  double mean_target_ = 0.0;
  Vector lengths_;
  Vector weights_;  // one a row, times the kernel
  Matrix rows_;     // divided by the lengths
};

}  // namespace

TechniqueInfo gaussian_process_technique() {
  const Settings standard;
  const Params defaults = {{"spread", standard.spread},
                           {"tune_rows", standard.tune_rows},
                           {"max_rows", standard.max_rows},
                           {"evaluations", standard.evaluations}};
  return {.name = "gaussian-process",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"spread", 0.0}})},
          .make = [](const Params& params) -> std::unique_ptr<Regressor> {
            Settings settings;
            settings.spread = parameter(params, "spread", settings.spread);
            settings.tune_rows = parameter(params, "tune_rows", settings.tune_rows);
            settings.max_rows = parameter(params, "max_rows", settings.max_rows);
            settings.evaluations = parameter(params, "evaluations", settings.evaluations);
            return std::make_unique<GaussianProcess>(settings);
          },
          .load = GaussianProcess::load,
          .of_the_paper = false};
}

}  // namespace berth::interference
