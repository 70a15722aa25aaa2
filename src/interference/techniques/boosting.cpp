#include "interference/techniques/boosting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "interference/techniques/common.h"
#include "interference/techniques/tree_params.h"

namespace berth::interference {
namespace {

struct Settings {
  double trees = 300.0;
  double learning_rate = 0.05;
  double subsample = 0.8;
  TreeParams tree{.max_depth = 4.0};
};

class GradientBoosting final : public Regressor {
 public:
  explicit GradientBoosting(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng rng) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("trees", settings_.trees, 1, kMaxTrees));
    BERTH_CHECK_OK(check_parameter("learning_rate", settings_.learning_rate, 1e-6, 1));
    BERTH_CHECK_OK(check_parameter("subsample", settings_.subsample, 1e-6, 1));
    BERTH_TRY(const auto options, settings_.tree.options());
    features_ = x.cols();
    start_ = y.mean();
    rate_ = settings_.learning_rate;
    trees_.clear();
    const TreeData data(x);
    TreeBuilder builder(data, options);
    Vector left = y.array() - start_;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(settings_.trees); ++i) {
      Rng tree_rng = rng.fork(i);
      const auto in_bag = draw(data.rows(), tree_rng);
      trees_.push_back(builder.build({left.data(), data.rows()}, in_bag, tree_rng));
      for (Eigen::Index row = 0; row < x.rows(); ++row) {
        left[row] -= rate_ * trees_.back().predict({x.row(row).data(), data.features()});
      }
    }
    return {};
  }

  double predict(std::span<const double> row) const override {
    return finite_or(start_ + rate_ * sum_of_predictions(trees_, row), start_);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(features_); }

  void save(nlohmann::json& out) const override {
    out = {{"features", features_},
           {"start", start_},
           {"learning_rate", rate_},
           {"trees", save_trees(trees_)}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<GradientBoosting>(Settings{});
    BERTH_TRY(model->features_, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->start_, reader.number("start"));
    BERTH_TRY(model->rate_, reader.number("learning_rate"));
    BERTH_TRY(model->trees_, load_trees(in, "trees", model->features_));
    return model;
  }

 private:
  // Weight 1 for the rows in the part, 0 for the others.
  [[nodiscard]] std::vector<double> draw(std::size_t rows, Rng& rng) const {
    const double wanted = std::floor(settings_.subsample * static_cast<double>(rows));
    const std::size_t count = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
    std::vector<double> weights(rows, 0.0);
    std::fill_n(weights.begin(), count, 1.0);
    if (count < rows) rng.shuffle(std::span(weights));
    return weights;
  }

  Settings settings_;
  std::int64_t features_ = 0;
  double start_ = 0.0;
  double rate_ = 0.0;
  std::vector<Tree> trees_;
};

}  // namespace

TechniqueInfo gradient_boosting_technique() {
  const Settings standard;
  Params defaults = standard.tree.list();
  defaults.insert(defaults.begin(), {{"trees", standard.trees},
                                     {"learning_rate", standard.learning_rate},
                                     {"subsample", standard.subsample}});
  return {.name = "gradient-boosting",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"max_depth", 3.0}}),
                   with(defaults, {{"max_depth", 6.0}}), with(defaults, {{"max_features", 0.5}}),
                   with(defaults, {{"min_samples_leaf", 4.0}})},
          .make = [](const Params& params) -> std::unique_ptr<Regressor> {
            Settings settings;
            settings.trees = parameter(params, "trees", settings.trees);
            settings.learning_rate = parameter(params, "learning_rate", settings.learning_rate);
            settings.subsample = parameter(params, "subsample", settings.subsample);
            settings.tree.read(params);
            return std::make_unique<GradientBoosting>(settings);
          },
          .load = GradientBoosting::load};
}

}  // namespace berth::interference
