#include "interference/techniques/forest.h"

#include <algorithm>
#include <cmath>

#include "interference/techniques/common.h"
#include "interference/techniques/tree.h"
#include "interference/techniques/tree_params.h"

namespace berth::interference {
namespace {

struct Settings {
  double trees = 1.0;
  double max_samples = 0.0;  // share of the rows drawn with replacement; 0: every row, once
  TreeParams tree = {};
  bool random_thresholds = false;
};

class Forest final : public Regressor {
 public:
  explicit Forest(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng rng) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("trees", settings_.trees, 1, kMaxTrees));
    BERTH_CHECK_OK(check_parameter("max_samples", settings_.max_samples, 0, 10));
    BERTH_TRY(auto options, settings_.tree.options());
    options.random_thresholds = settings_.random_thresholds;
    features_ = x.cols();
    const TreeData data(x);
    TreeBuilder builder(data, options);
    std::vector<double> weights(data.rows(), 1.0);
    trees_.clear();
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(settings_.trees); ++i) {
      Rng tree_rng = rng.fork(i);
      if (settings_.max_samples > 0.0) draw(weights, tree_rng);
      trees_.push_back(builder.build({y.data(), data.rows()}, weights, tree_rng));
    }
    return {};
  }

  double predict(std::span<const double> row) const override {
    const double mean = sum_of_predictions(trees_, row) / static_cast<double>(trees_.size());
    return finite_or(mean, 0.0);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(features_); }

  void save(nlohmann::json& out) const override {
    out = {{"features", features_}, {"trees", save_trees(trees_)}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    auto model = std::make_unique<Forest>(Settings{});
    BERTH_TRY(model->features_, FieldReader(in).integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->trees_, load_trees(in, "trees", model->features_));
    return model;
  }

 private:
  // A row drawn twice weighs twice.
  void draw(std::vector<double>& weights, Rng& rng) const {
    const auto rows = static_cast<double>(weights.size());
    const double draws = std::max(1.0, std::floor(settings_.max_samples * rows));
    std::fill(weights.begin(), weights.end(), 0.0);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(draws); ++i) {
      weights[rng.below(weights.size())] += 1.0;
    }
  }

  Settings settings_;
  std::int64_t features_ = 0;
  std::vector<Tree> trees_;
};

constexpr Settings kCart = {.tree = {.min_samples_leaf = 3.0}};
constexpr Settings kRandomForest = {.trees = 200.0, .max_samples = 1.0};
constexpr Settings kExtraTrees = {.trees = 200.0, .random_thresholds = true};
constexpr Settings kBagging = {.trees = 50.0, .max_samples = 1.0};

Params parameters(const Settings& settings) {
  Params params = settings.tree.list();
  if (settings.trees > 1.0) params.insert(params.begin(), {"trees", settings.trees});
  if (settings.max_samples > 0.0) params.emplace_back("max_samples", settings.max_samples);
  return params;
}

template <const Settings& kDefaults>
std::unique_ptr<Regressor> make(const Params& params) {
  Settings settings = kDefaults;
  settings.trees = parameter(params, "trees", settings.trees);
  settings.max_samples = parameter(params, "max_samples", settings.max_samples);
  settings.tree.read(params);
  return std::make_unique<Forest>(settings);
}

template <const Settings& kDefaults>
TechniqueInfo technique(std::string_view name, const std::vector<Params>& variants) {
  const Params defaults = parameters(kDefaults);
  TechniqueInfo info{.name = name,
                     .defaults = defaults,
                     .grid = {defaults},
                     .make = make<kDefaults>,
                     .load = Forest::load};
  for (const auto& variant : variants) info.grid.push_back(with(defaults, variant));
  return info;
}

}  // namespace

TechniqueInfo cart_technique() {
  return technique<kCart>("cart", {{{"min_samples_leaf", 1.0}},
                                   {{"min_samples_leaf", 8.0}},
                                   {{"max_depth", 4.0}},
                                   {{"max_depth", 6.0}}});
}

TechniqueInfo random_forest_technique() {
  return technique<kRandomForest>(
      "random-forest",
      {{{"max_features", 0.5}}, {{"max_features", 0.33}}, {{"min_samples_leaf", 3.0}}});
}

TechniqueInfo extra_trees_technique() {
  return technique<kExtraTrees>(
      "extra-trees",
      {{{"max_features", 0.5}}, {{"min_samples_leaf", 2.0}}, {{"min_samples_leaf", 4.0}}});
}

TechniqueInfo bagging_technique() {
  return technique<kBagging>("bagging", {{{"max_samples", 0.5}}, {{"min_samples_leaf", 3.0}}});
}

}  // namespace berth::interference
