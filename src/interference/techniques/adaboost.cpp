#include "interference/techniques/adaboost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "interference/techniques/common.h"
#include "interference/techniques/tree_params.h"

namespace berth::interference {
namespace {

struct Settings {
  double trees = 100.0;
  double learning_rate = 1.0;
  TreeParams tree{.max_depth = 6.0};
};

// Draws indices in proportion to weights that sum to one.
class WeightedDraw {
 public:
  explicit WeightedDraw(std::span<const double> weights) : cumulative_(weights.size()) {
    std::partial_sum(weights.begin(), weights.end(), cumulative_.begin());
  }
  [[nodiscard]] std::size_t next(Rng& rng) const {
    const double at = rng.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
    const auto index = static_cast<std::size_t>(found - cumulative_.begin());
    return std::min(index, cumulative_.size() - 1);
  }

 private:
  std::vector<double> cumulative_;
};

class AdaBoost final : public Regressor {
 public:
  explicit AdaBoost(const Settings& settings) : settings_(settings) {}

  Status fit(const Matrix& x, const Vector& y, Rng rng) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("trees", settings_.trees, 1, kMaxTrees));
    BERTH_CHECK_OK(check_parameter("learning_rate", settings_.learning_rate, 1e-6, 10));
    BERTH_TRY(const auto options, settings_.tree.options());
    features_ = x.cols();
    trees_.clear();
    votes_.clear();
    const TreeData data(x);
    TreeBuilder builder(data, options);
    std::vector<double> weights(data.rows(), 1.0 / static_cast<double>(data.rows()));
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(settings_.trees); ++i) {
      Rng tree_rng = rng.fork(i);
      const auto drawn = draw(weights, tree_rng);
      if (!boost(x, y, builder.build({y.data(), data.rows()}, drawn, tree_rng), weights)) break;
    }
    return {};
  }

  double predict(std::span<const double> row) const override {
    std::vector<std::pair<double, double>> values(trees_.size());
    for (std::size_t i = 0; i < trees_.size(); ++i) values[i] = {trees_[i].predict(row), votes_[i]};
    return weighted_median(values);
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(features_); }

  void save(nlohmann::json& out) const override {
    out = {{"features", features_}, {"votes", votes_}, {"trees", save_trees(trees_)}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<AdaBoost>(Settings{});
    BERTH_TRY(model->features_, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(model->trees_, load_trees(in, "trees", model->features_));
    BERTH_TRY(model->votes_, reader.numbers("votes", std::ssize(model->trees_)));
    return model;
  }

 private:
  static std::vector<double> draw(std::span<const double> weights, Rng& rng) {
    const WeightedDraw draws(weights);
    std::vector<double> counts(weights.size(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) counts[draws.next(rng)] += 1.0;
    return counts;
  }

  // Adds a tree with its vote and reweights the rows; false when boosting is over: the tree is
  // perfect, or so bad that it is dropped (unless it is the only one).
  bool boost(const Matrix& x, const Vector& y, Tree tree, std::vector<double>& weights) {
    const auto columns = static_cast<std::size_t>(x.cols());
    std::vector<double> losses(weights.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      losses[i] = std::abs(tree.predict({x.row(row).data(), columns}) - y[row]);
      if (weights[i] > 0.0) largest = std::max(largest, losses[i]);
    }
    double mean_loss = 0.0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (largest > 0.0) losses[i] /= largest;
      if (weights[i] > 0.0) mean_loss += weights[i] * losses[i];
    }
    if (mean_loss >= 0.5 && !trees_.empty()) return false;
    trees_.push_back(std::move(tree));
    if (!(mean_loss > 0.0) || mean_loss >= 0.5) {
      votes_.push_back(1.0);
      return false;
    }
    const double beta = mean_loss / (1.0 - mean_loss);
    votes_.push_back(settings_.learning_rate * std::log(1.0 / beta));
    reweight(weights, losses, beta);
    return true;
  }

  void reweight(std::vector<double>& weights, std::span<const double> losses, double beta) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] > 0.0) {
        weights[i] *= std::pow(beta, (1.0 - losses[i]) * settings_.learning_rate);
      }
      sum += weights[i];
    }
    for (double& weight : weights) weight /= sum;
  }

  Settings settings_;
  std::int64_t features_ = 0;
  std::vector<Tree> trees_;
  std::vector<double> votes_;  // one a tree
};

}  // namespace

double weighted_median(std::span<std::pair<double, double>> values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  double sum = 0.0;
  for (const auto& [value, weight] : values) sum += weight;
  double reached = 0.0;
  for (const auto& [value, weight] : values) {
    reached += weight;
    if (reached >= 0.5 * sum) return value;
  }
  return values.back().first;
}

TechniqueInfo adaboost_r2_technique() {
  Params defaults = Settings{}.tree.list();
  defaults.insert(defaults.begin(), {{"trees", 100.0}, {"learning_rate", 1.0}});
  return {.name = "adaboost-r2",
          .defaults = defaults,
          .grid = {defaults, with(defaults, {{"max_depth", 4.0}}),
                   with(defaults, {{"max_depth", 10.0}}), with(defaults, {{"learning_rate", 0.3}})},
          .make = [](const Params& params) -> std::unique_ptr<Regressor> {
            Settings settings;
            settings.trees = parameter(params, "trees", settings.trees);
            settings.learning_rate = parameter(params, "learning_rate", settings.learning_rate);
            settings.tree.read(params);
            return std::make_unique<AdaBoost>(settings);
          },
          .load = AdaBoost::load};
}

}  // namespace berth::interference
