// One regression tree, and the builder behind every tree technique. CART: Breiman, Friedman, Olshen
// and Stone, 1984; random thresholds: Geurts, Ernst and Wehenkel, "Extremely randomized trees",
// 2006.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "interference/technique.h"

namespace berth::interference {

// Nodes lie in breadth-first order and the two children of a node side by side, so the inner nodes
// and their features alone give the shape.
struct TreeNode {
  double value = 0.0;         // an inner node's threshold, or a leaf's prediction
  std::int32_t feature = -1;  // -1: a leaf
  // Nodes from here to the child for rows at or below the threshold; the other child is next to it.
  std::int32_t left = 0;
};

class Tree {
 public:
  [[nodiscard]] double predict(std::span<const double> row) const {
    const TreeNode* node = nodes_.data();
    while (node->feature >= 0) {
      const bool right = row[static_cast<std::size_t>(node->feature)] > node->value;
      node += node->left + (right ? 1 : 0);
    }
    return node->value;
  }
  [[nodiscard]] std::span<const TreeNode> nodes() const { return nodes_; }

  [[nodiscard]] nlohmann::json save() const;
  [[nodiscard]] static Result<Tree> load(const nlohmann::json& in, std::int64_t features);

 private:
  friend class TreeBuilder;
  std::vector<TreeNode> nodes_;
};

// The sum of tree.predict(row).
[[nodiscard]] double sum_of_predictions(std::span<const Tree> trees, std::span<const double> row);

[[nodiscard]] nlohmann::json save_trees(std::span<const Tree> trees);
// At least one, of `field`.
[[nodiscard]] Result<std::vector<Tree>> load_trees(const nlohmann::json& in, const char* field,
                                                   std::int64_t features);

// The rows by column, and each column's rows in ascending order: made once, used by every tree.
class TreeData {
 public:
  explicit TreeData(const Matrix& x);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t features() const { return features_; }
  [[nodiscard]] const double* column(std::size_t feature) const {
    return &columns_[feature * rows_];
  }
  [[nodiscard]] std::span<const std::uint32_t> ascending(std::size_t feature) const {
    return {&ascending_[feature * rows_], rows_};
  }

 private:
  std::size_t rows_;
  std::size_t features_;
  std::vector<double> columns_;
  std::vector<std::uint32_t> ascending_;
};

struct TreeOptions {
  int max_depth = 1 << 20;
  std::size_t min_samples_leaf = 1;  // distinct rows, whatever they weigh
  double max_features = 1.0;         // share of the features looked at in a node
  bool random_thresholds = false;    // one random threshold a feature, not the best one
};

// Grows trees over the same rows; keeps its scratch memory from tree to tree.
//
// A split maximises the fall in squared error, w_l w_r (mean_l - mean_r)^2 / (w_l + w_r), which is
// Friedman's improvement score as well; the threshold is the midpoint of the two values. Of splits
// that are equally good the first one found wins; a node looks at the features in random order, so
// that no column is preferred and the trees of an ensemble differ.
class TreeBuilder {
 public:
  TreeBuilder(const TreeData& data, const TreeOptions& options);

  // weights: one a row, 0 leaves the row out; at least one row is in.
  [[nodiscard]] Tree build(std::span<const double> targets, std::span<const double> weights,
                           Rng& rng);

 private:
  struct Sample {
    double weighted_target;
    double weight;
  };
  struct Task {  // a node whose rows are at [begin, end) of every order
    std::uint32_t begin;
    std::uint32_t end;
    int depth;
  };
  struct Summary {
    double weight = 0.0;
    double weighted_target = 0.0;
    bool pure = true;  // one target only

    [[nodiscard]] double mean() const { return weighted_target / weight; }
  };
  struct Split {
    double gain = -1.0;  // numerator and denominator of the score: comparing needs no division
    double gain_divisor = 1.0;
    double threshold = 0.0;
    std::int32_t feature = -1;
    std::uint32_t left_rows = 0;

    // A gain within rounding of the best one is the same: features that part the rows in the same
    // way must not be told apart by the order in which their targets were added up.
    static constexpr double kTie = 1.0 + 1e-10;
    // By a split of which one side's targets add up to `excess` more than at the node's mean; the
    // divisor is the product of the two sides' weights.
    [[nodiscard]] bool beaten_by(double excess, double divisor) const {
      return excess * excess * gain_divisor > gain * divisor * kTie;
    }
  };

  void start(std::span<const double> targets, std::span<const double> weights);
  [[nodiscard]] std::uint32_t* order(std::size_t feature) { return &orders_[feature * in_bag_]; }
  [[nodiscard]] Summary summarise(const Task& task);
  [[nodiscard]] bool may_split(const Task& task) const;
  [[nodiscard]] Split find_split(const Task& task, const Summary& node, Rng& rng);
  void best_threshold(const Task& task, const Summary& node, std::size_t feature, Split& best);
  [[nodiscard]] bool is_constant(const Task& task, std::size_t feature);
  void random_threshold(const Task& task, const Summary& node, std::size_t feature, Rng& rng,
                        Split& best);
  void partition(const Task& task, const Split& split);
  void partition_order(const Task& task, std::uint32_t* rows);

  const TreeData& data_;
  TreeOptions options_;
  std::size_t max_features_;
  std::size_t in_bag_ = 0;  // rows of this tree
  const double* targets_ = nullptr;
  std::vector<Sample> samples_;        // by row
  std::vector<std::uint32_t> orders_;  // by feature: in-bag rows, ascending within each node
  std::vector<std::uint32_t> scratch_;
  std::vector<std::uint8_t> goes_left_;  // by row
  std::vector<std::size_t> features_;
  std::vector<Task> tasks_;  // by node
};

}  // namespace berth::interference
