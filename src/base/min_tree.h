// Values at positions 0, 1, 2, ...: "the first position >= p whose value is <= v" in O(log n).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace berth {

class MinTree {
 public:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // The next position, empty.
  std::size_t append() {
    if (size_ == leaves_) enlarge();
    return size_++;
  }
  void set(std::size_t position, std::int64_t value) {
    std::size_t node = leaves_ + position;
    tree_[node] = value;
    while (node > 1) {
      node /= 2;
      const std::int64_t least = std::min(tree_[2 * node], tree_[2 * node + 1]);
      if (tree_[node] == least) return;
      tree_[node] = least;
    }
  }
  void unset(std::size_t position) { set(position, kAbsent); }
  [[nodiscard]] std::int64_t value(std::size_t position) const { return tree_[leaves_ + position]; }
  [[nodiscard]] bool empty() const { return size_ == 0 || tree_[1] == kAbsent; }

  [[nodiscard]] std::size_t first_at_most(std::int64_t limit, std::size_t from = 0) const {
    if (from >= size_ || limit == kAbsent) return kNone;
    std::size_t node = leaves_ + from;
    // Up while the subtree to the right does not hold one, then down to the leftmost.
    while (tree_[node] > limit) {
      while (node % 2 == 1) {
        if (node == 1) return kNone;
        node /= 2;
        if (node == 1) return kNone;
      }
      if (node == 1) return kNone;
      ++node;
    }
    while (node < leaves_) {
      node *= 2;
      if (tree_[node] > limit) ++node;
    }
    return node - leaves_;
  }
  void clear() {
    tree_.clear();
    leaves_ = 0;
    size_ = 0;
  }

 private:
  void enlarge() {
    const std::size_t leaves = std::max<std::size_t>(64, leaves_ * 2);
    std::vector<std::int64_t> tree(2 * leaves, kAbsent);
    std::copy_n(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), size_,
                tree.begin() + static_cast<std::ptrdiff_t>(leaves));
    for (std::size_t node = leaves; node-- > 1;) {
      tree[node] = std::min(tree[2 * node], tree[2 * node + 1]);
    }
    tree_ = std::move(tree);
    leaves_ = leaves;
  }

  std::vector<std::int64_t> tree_;  // heap order; leaves from leaves_ on
  std::size_t leaves_ = 0;
  std::size_t size_ = 0;
};

}  // namespace berth
