#include "interference/techniques/svr.h"

#include <libsvm/svm.h>

#include <cmath>

#include "interference/techniques/common.h"

namespace berth::interference {
namespace {

constexpr double kTolerance = 1e-3;
constexpr double kCacheMegabytes = 200.0;
constexpr std::int64_t kMaxDegree = 5;

enum class Kernel : std::uint8_t { kLinear, kPoly, kRbf };

int libsvm_kernel(Kernel kernel) {
  switch (kernel) {
    case Kernel::kLinear:
      return LINEAR;
    case Kernel::kPoly:
      return POLY;
    case Kernel::kRbf:
      return RBF;
  }
  return LINEAR;
}

double power(double base, std::int64_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

// The rows as libsvm wants them; the model that it returns points into them.
class Problem {
 public:
  Problem(const Matrix& x, const Vector& y) : targets_(y.begin(), y.end()) {
    const auto width = static_cast<std::size_t>(x.cols()) + 1;
    cells_.resize(static_cast<std::size_t>(x.rows()) * width);
    rows_.resize(static_cast<std::size_t>(x.rows()));
    for (Eigen::Index row = 0; row < x.rows(); ++row) {
      svm_node* cells = &cells_[static_cast<std::size_t>(row) * width];
      rows_[static_cast<std::size_t>(row)] = cells;
      for (Eigen::Index column = 0; column < x.cols(); ++column) {
        cells[column] = {static_cast<int>(column) + 1, x(row, column)};
      }
      cells[x.cols()] = {-1, 0.0};
    }
    problem_ = {static_cast<int>(x.rows()), targets_.data(), rows_.data()};
  }
  [[nodiscard]] const svm_problem& get() const { return problem_; }

 private:
  std::vector<double> targets_;
  std::vector<svm_node> cells_;
  std::vector<svm_node*> rows_;
  svm_problem problem_{};
};

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};
using SvmModel = std::unique_ptr<svm_model, FreeModel>;

struct Settings {
  Kernel kernel = Kernel::kRbf;
  double cost = 1.0;
  double epsilon = 0.01;
  double gamma_factor = 1.0;
  double degree = 3.0;
};

class Svr final : public Regressor {
 public:
  explicit Svr(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng /*rng*/) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("C", settings_.cost, 1e-9, 1e6));
    BERTH_CHECK_OK(check_parameter("epsilon", settings_.epsilon, 0.0, 1e6));
    BERTH_CHECK_OK(check_parameter("gamma_factor", settings_.gamma_factor, 1e-9, 1e9));
    BERTH_CHECK_OK(check_parameter("degree", settings_.degree, 1, kMaxDegree));
    degree_ = static_cast<std::int64_t>(settings_.degree);
    gamma_ = gamma_scale(x) * settings_.gamma_factor;
    mean_target_ = y.mean();
    const Problem problem(x, y);
    keep(*train(problem), x);
    return {};
  }

  double predict(std::span<const double> row) const override {
    const Eigen::Map<const Vector> values(row.data(), vectors_.cols());
    double sum = -rho_;
    for (Eigen::Index i = 0; i < vectors_.rows(); ++i) {
      sum += coefficients_[i] * kernel_value(vectors_.row(i).transpose(), values);
    }
    return finite_or(sum, mean_target_);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(vectors_.cols()); }

  void save(nlohmann::json& out) const override {
    out = {{"features", vectors_.cols()},
           {"gamma", gamma_},
           {"degree", degree_},
           {"rho", rho_},
           {"mean_target", mean_target_},
           {"coefficients", json_array(coefficients_)},
           {"vectors", json_array(vectors_.reshaped<Eigen::RowMajor>())}};
  }

  template <Kernel kernel>
  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<Svr>(Settings{.kernel = kernel});
    BERTH_TRY(const auto features, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->gamma_, reader.number("gamma"));
    BERTH_TRY(model->degree_, reader.integer("degree", 1, kMaxDegree));
    BERTH_TRY(model->rho_, reader.number("rho"));
    BERTH_TRY(model->mean_target_, reader.number("mean_target"));
    BERTH_TRY(const auto coefficients, reader.numbers("coefficients"));
    const auto count = std::ssize(coefficients);
    BERTH_TRY(const auto vectors, reader.numbers("vectors", count * features));
    model->coefficients_ = Eigen::Map<const Vector>(coefficients.data(), count);
    model->vectors_ = Eigen::Map<const Matrix>(vectors.data(), count, features);
    return model;
  }

 private:
  [[nodiscard]] SvmModel train(const Problem& problem) const {
    static const bool kSilenced = [] {
      svm_set_print_string_function([](const char*) {});
      return true;
    }();
    (void)kSilenced;
    svm_parameter parameters{};
    parameters.svm_type = EPSILON_SVR;
    parameters.kernel_type = libsvm_kernel(settings_.kernel);
    parameters.degree = static_cast<int>(degree_);
    parameters.gamma = gamma_;
    parameters.cache_size = kCacheMegabytes;
    parameters.eps = kTolerance;
    parameters.C = settings_.cost;
    parameters.p = settings_.epsilon;
    parameters.shrinking = 1;
    return SvmModel(svm_train(&problem.get(), &parameters));
  }

  void keep(const svm_model& model, const Matrix& x) {
    rho_ = finite_or(model.rho[0], -mean_target_);
    vectors_.resize(model.l, x.cols());
    coefficients_.resize(model.l);
    for (Eigen::Index i = 0; i < model.l; ++i) {
      vectors_.row(i) = x.row(model.sv_indices[i] - 1);
      coefficients_[i] = finite_or(model.sv_coef[0][i], 0.0);
    }
    if (settings_.kernel == Kernel::kLinear) collapse();
  }

  // The linear machine is one vector: a prediction costs one product, whatever the rows were.
  void collapse() {
    const Matrix weights = coefficients_.transpose() * vectors_;
    if (!weights.allFinite()) return;
    vectors_ = weights;
    coefficients_ = Vector::Ones(1);
  }

  template <class A, class B>
  [[nodiscard]] double kernel_value(const A& a, const B& b) const {
    switch (settings_.kernel) {
      case Kernel::kLinear:
        return a.dot(b);
      case Kernel::kPoly:
        return power(gamma_ * a.dot(b), degree_);
      case Kernel::kRbf:
        return std::exp(-gamma_ * (a - b).squaredNorm());
    }
    return 0.0;
  }

  Settings settings_;
  std::int64_t degree_ = 3;
  double gamma_ = 1.0;
  double rho_ = 0.0;
  double mean_target_ = 0.0;
  Vector coefficients_;
  Matrix vectors_;  // a support vector a row
};

template <Kernel kernel>
std::unique_ptr<Regressor> make(const Params& params) {
  const Settings defaults{.kernel = kernel, .cost = kernel == Kernel::kRbf ? 10.0 : 1.0};
  return std::make_unique<Svr>(
      Settings{.kernel = kernel,
               .cost = parameter(params, "C", defaults.cost),
               .epsilon = parameter(params, "epsilon", defaults.epsilon),
               .gamma_factor = parameter(params, "gamma_factor", defaults.gamma_factor),
               .degree = parameter(params, "degree", defaults.degree)});
}

}  // namespace

TechniqueInfo svr_linear_technique() {
  const Params defaults = {{"C", 1.0}, {"epsilon", 0.01}};
  return {.name = "svr-linear",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"C", 0.1}}), with(defaults, {{"C", 10.0}}),
                   with(defaults, {{"epsilon", 0.1}})},
          .make = make<Kernel::kLinear>,
          .load = Svr::load<Kernel::kLinear>};
}

TechniqueInfo svr_poly_technique() {
  const Params defaults = {{"C", 1.0}, {"epsilon", 0.01}, {"gamma_factor", 1.0}, {"degree", 3.0}};
  return {.name = "svr-poly",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"C", 0.1}}), with(defaults, {{"C", 10.0}}),
                   with(defaults, {{"degree", 2.0}})},
          .make = make<Kernel::kPoly>,
          .load = Svr::load<Kernel::kPoly>};
}

TechniqueInfo svr_rbf_technique() {
  const Params defaults = {{"C", 10.0}, {"epsilon", 0.01}, {"gamma_factor", 1.0}};
  return {.name = "svr-rbf",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"C", 1.0}}),
                   with(defaults, {{"C", 100.0}, {"gamma_factor", 0.3}}),
                   with(defaults, {{"gamma_factor", 0.3}}), with(defaults, {{"gamma_factor", 3.0}}),
                   with(defaults, {{"epsilon", 0.05}})},
          .make = make<Kernel::kRbf>,
          .load = Svr::load<Kernel::kRbf>};
}

}  // namespace berth::interference
