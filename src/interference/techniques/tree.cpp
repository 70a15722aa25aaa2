#include "interference/techniques/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "interference/techniques/common.h"

namespace berth::interference {
namespace {

// Uniform in [0, bound) but for a bias of bound / 2^32: drawn for every feature of every node,
// where the division of Rng::below would show.
std::size_t draw_below(std::size_t bound, Rng& rng) {
  return static_cast<std::size_t>(((rng.next_u64() >> 32) * bound) >> 32);
}

// How many trees walk side by side: their cache misses overlap.
constexpr std::size_t kAbreast = 8;

}  // namespace

double sum_of_predictions(std::span<const Tree> trees, std::span<const double> row) {
  double sum = 0.0;
  std::size_t first = 0;
  for (; first + kAbreast <= trees.size(); first += kAbreast) {
    std::array<const TreeNode*, kAbreast> at{};
    for (std::size_t k = 0; k < kAbreast; ++k) at[k] = trees[first + k].nodes().data();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < kAbreast; ++k) {
        const TreeNode* node = at[k];
        const bool leaf = node->feature < 0;
        const double value = row[leaf ? 0 : static_cast<std::size_t>(node->feature)];
        const std::ptrdiff_t step = node->left + (value > node->value ? 1 : 0);
        at[k] = node + (leaf ? 0 : step);
        moved = moved || !leaf;
      }
    }
    for (const TreeNode* node : at) sum += node->value;
  }
  for (; first < trees.size(); ++first) sum += trees[first].predict(row);
  return sum;
}

nlohmann::json Tree::save() const {
  auto features = nlohmann::json::array();
  auto values = nlohmann::json::array();
  for (const auto& node : nodes_) {
    features.push_back(node.feature);
    values.push_back(node.value);
  }
  return {{"features", std::move(features)}, {"values", std::move(values)}};
}

Result<Tree> Tree::load(const nlohmann::json& in, std::int64_t features) {
  const FieldReader reader(in);
  BERTH_TRY(const auto values, reader.numbers("values"));
  const auto count = std::ssize(values);
  BERTH_TRY(const auto split_by, reader.integers("features", count, -1, features - 1));
  Tree tree;
  tree.nodes_.reserve(values.size());
  std::int64_t next = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool leaf = split_by[i] < 0;
    tree.nodes_.push_back(
        {values[i], split_by[i], leaf ? 0 : static_cast<std::int32_t>(next - std::int64_t(i))});
    if (!leaf) next += 2;
  }
  if (next != count) {
    return fail(damaged_model("values", fmt::format("{} nodes", count), fmt::format("{}", next)));
  }
  return tree;
}

nlohmann::json save_trees(std::span<const Tree> trees) {
  auto out = nlohmann::json::array();
  for (const auto& tree : trees) out.push_back(tree.save());
  return out;
}

Result<std::vector<Tree>> load_trees(const nlohmann::json& in, const char* field,
                                     std::int64_t features) {
  BERTH_TRY(const auto* array, FieldReader(in).array(field));
  if (array->empty()) return fail(damaged_model(field, "no trees", "at least one"));
  std::vector<Tree> trees;
  trees.reserve(array->size());
  for (const auto& entry : *array) {
    BERTH_TRY(auto tree, Tree::load(entry, features));
    trees.push_back(std::move(tree));
  }
  return trees;
}

TreeData::TreeData(const Matrix& x)
    : rows_(static_cast<std::size_t>(x.rows())), features_(static_cast<std::size_t>(x.cols())) {
  columns_.resize(rows_ * features_);
  ascending_.resize(rows_ * features_);
  for (std::size_t feature = 0; feature < features_; ++feature) {
    double* values = &columns_[feature * rows_];
    for (std::size_t row = 0; row < rows_; ++row) {
      values[row] = x(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(feature));
    }
    const std::span<std::uint32_t> order(&ascending_[feature * rows_], rows_);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [values](std::uint32_t a, std::uint32_t b) {
      return values[a] != values[b] ? values[a] < values[b] : a < b;
    });
  }
}

TreeBuilder::TreeBuilder(const TreeData& data, const TreeOptions& options)
    : data_(data), options_(options), features_(data.features()) {
  const auto wanted = std::floor(options.max_features * static_cast<double>(data.features()));
  max_features_ = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
  samples_.resize(data.rows());
  goes_left_.resize(data.rows());
  scratch_.resize(data.rows());
}

Tree TreeBuilder::build(std::span<const double> targets, std::span<const double> weights,
                        Rng& rng) {
  start(targets, weights);
  Tree tree;
  tree.nodes_.resize(1);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task task = tasks_[i];
    const Summary node = summarise(task);
    const Split split = !node.pure && may_split(task) ? find_split(task, node, rng) : Split{};
    if (split.feature < 0) {
      tree.nodes_[i] = {node.pure ? targets[order(0)[task.begin]] : node.mean(), -1, 0};
      continue;
    }
    partition(task, split);
    tree.nodes_[i] = {split.threshold, split.feature, static_cast<std::int32_t>(tasks_.size() - i)};
    const std::uint32_t middle = task.begin + split.left_rows;
    tasks_.push_back({task.begin, middle, task.depth + 1});
    tasks_.push_back({middle, task.end, task.depth + 1});
    tree.nodes_.resize(tasks_.size());
  }
  return tree;
}

void TreeBuilder::start(std::span<const double> targets, std::span<const double> weights) {
  targets_ = targets.data();
  in_bag_ = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; }));
  for (std::size_t row = 0; row < data_.rows(); ++row) {
    samples_[row] = {weights[row] * targets[row], weights[row]};
  }
  // Random thresholds need the rows of a node, in any order; the best ones need them sorted.
  const std::size_t orders = options_.random_thresholds ? 1 : data_.features();
  orders_.resize(orders * in_bag_);
  std::uint32_t* out = orders_.data();
  for (std::size_t feature = 0; feature < orders; ++feature) {
    for (const std::uint32_t row : data_.ascending(feature)) {
      if (weights[row] > 0.0) *out++ = row;
    }
  }
  std::iota(features_.begin(), features_.end(), std::size_t{0});
  tasks_.clear();
  tasks_.push_back({0, static_cast<std::uint32_t>(in_bag_), 0});
}

TreeBuilder::Summary TreeBuilder::summarise(const Task& task) {
  const std::span<const std::uint32_t> rows(order(0) + task.begin, task.end - task.begin);
  const double first = targets_[rows.front()];
  Summary node;
  for (const std::uint32_t row : rows) {
    node.weight += samples_[row].weight;
    node.weighted_target += samples_[row].weighted_target;
    node.pure = node.pure && targets_[row] == first;
  }
  return node;
}

bool TreeBuilder::may_split(const Task& task) const {
  const std::size_t rows = task.end - task.begin;
  return task.depth < options_.max_depth && rows >= 2 * options_.min_samples_leaf;
}

TreeBuilder::Split TreeBuilder::find_split(const Task& task, const Summary& node, Rng& rng) {
  Split best;
  for (std::size_t visited = 0; visited < features_.size(); ++visited) {
    // Beyond its share of the features, a node looks on only until one can be split at all.
    if (visited >= max_features_ && best.feature >= 0) break;
    std::swap(features_[visited], features_[visited + draw_below(features_.size() - visited, rng)]);
    const std::size_t feature = features_[visited];
    if (options_.random_thresholds) {
      random_threshold(task, node, feature, rng, best);
    } else if (!is_constant(task, feature)) {
      best_threshold(task, node, feature, best);
    }
  }
  return best;
}

bool TreeBuilder::is_constant(const Task& task, std::size_t feature) {
  const std::uint32_t* rows = order(feature);
  const double* values = data_.column(feature);
  return values[rows[task.begin]] == values[rows[task.end - 1]];
}

void TreeBuilder::best_threshold(const Task& task, const Summary& node, std::size_t feature,
                                 Split& best) {
  const std::uint32_t* rows = order(feature);
  const double* values = data_.column(feature);
  const double mean = node.mean();
  const auto smallest = static_cast<std::uint32_t>(options_.min_samples_leaf);
  double weight = 0.0;
  double weighted_target = 0.0;
  double next = values[rows[task.begin]];
  for (std::uint32_t at = task.begin + 1; at < task.end; ++at) {
    const Sample& sample = samples_[rows[at - 1]];
    weight += sample.weight;
    weighted_target += sample.weighted_target;
    const double value = next;
    next = values[rows[at]];
    if (value == next || at - task.begin < smallest) continue;
    if (task.end - at < smallest) break;
    const double excess = weighted_target - weight * mean;
    const double divisor = weight * (node.weight - weight);
    if (!best.beaten_by(excess, divisor)) continue;
    const double middle = value / 2.0 + next / 2.0;
    best = {.gain = excess * excess,
            .gain_divisor = divisor,
            .threshold = middle < next ? middle : value,
            .feature = static_cast<std::int32_t>(feature),
            .left_rows = at - task.begin};
  }
}

void TreeBuilder::random_threshold(const Task& task, const Summary& node, std::size_t feature,
                                   Rng& rng, Split& best) {
  const std::span<const std::uint32_t> rows(order(0) + task.begin, task.end - task.begin);
  const double* values = data_.column(feature);
  double low = values[rows.front()];
  double high = low;
  for (const std::uint32_t row : rows) {
    low = std::min(low, values[row]);
    high = std::max(high, values[row]);
  }
  if (low == high) return;
  const double drawn = rng.uniform(low, high);
  const double threshold = drawn < high ? drawn : low;
  // Without a branch, which would be mispredicted at every other row.
  static constexpr std::array<double, 2> kFactors = {0.0, 1.0};
  double weight = 0.0;
  double weighted_target = 0.0;
  std::uint32_t left = 0;
  for (const std::uint32_t row : rows) {
    const std::uint32_t is_left = values[row] <= threshold ? 1 : 0;
    weight += kFactors[is_left] * samples_[row].weight;
    weighted_target += kFactors[is_left] * samples_[row].weighted_target;
    left += is_left;
  }
  if (std::min<std::size_t>(left, rows.size() - left) < options_.min_samples_leaf) return;
  const double excess = weighted_target - weight * node.mean();
  const double divisor = weight * (node.weight - weight);
  if (!best.beaten_by(excess, divisor)) return;
  best = {.gain = excess * excess,
          .gain_divisor = divisor,
          .threshold = threshold,
          .feature = static_cast<std::int32_t>(feature),
          .left_rows = left};
}

void TreeBuilder::partition(const Task& task, const Split& split) {
  const auto feature = static_cast<std::size_t>(split.feature);
  const double* values = data_.column(feature);
  const std::uint32_t* rows = order(0);
  for (std::uint32_t at = task.begin; at < task.end; ++at) {
    goes_left_[rows[at]] = values[rows[at]] <= split.threshold ? 1 : 0;
  }
  if (options_.random_thresholds) {
    partition_order(task, order(0));
    return;
  }
  for (std::size_t other = 0; other < data_.features(); ++other) {
    if (other != feature) partition_order(task, order(other));  // its own is in place
  }
}

// Stable, and without a branch: every row is written to both sides, one of which advances.
void TreeBuilder::partition_order(const Task& task, std::uint32_t* rows) {
  std::uint32_t* left = rows + task.begin;
  std::uint32_t* right = scratch_.data();
  for (std::uint32_t at = task.begin; at < task.end; ++at) {
    const std::uint32_t row = rows[at];
    const std::uint32_t is_left = goes_left_[row];
    *left = row;
    *right = row;
    left += is_left;
    right += 1 - is_left;
  }
  std::copy(scratch_.data(), right, left);
}

}  // namespace berth::interference
