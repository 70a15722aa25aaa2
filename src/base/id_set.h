// A set of small integers with the smallest, the next and membership in a few steps: bits in words,
// and words of which words are not empty. Iteration is in increasing order, whatever the history.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

class IdSet {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  // Makes room for ids below `size`; keeps the content.
  void grow(std::size_t size) {
    std::size_t words = (size + 63) / 64;
    if (!levels_.empty() && words <= levels_[0].size()) return;
    for (std::size_t level = 0; words > 0; ++level) {
      if (levels_.size() == level) levels_.emplace_back();
      const bool fresh = levels_[level].empty();
      if (levels_[level].size() < words) levels_[level].resize(words, 0);
      // A new top level must know what stands below it.
      if (fresh && level > 0) {
        for (std::size_t w = 0; w < levels_[level - 1].size(); ++w) {
          if (levels_[level - 1][w] != 0) levels_[level][w / 64] |= std::uint64_t{1} << (w % 64);
        }
      }
      if (words == 1) break;
      words = (words + 63) / 64;
    }
  }
  void clear() { levels_.clear(); }

  [[nodiscard]] bool contains(std::uint32_t id) const {
    return !levels_.empty() && id / 64 < levels_[0].size() &&
           (levels_[0][id / 64] >> (id % 64) & 1U) != 0;
  }
  void insert(std::uint32_t id) {
    assert(!levels_.empty() && id / 64 < levels_[0].size());
    for (auto& level : levels_) {
      std::uint64_t& word = level[id / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (id % 64);
      if (!was_empty) return;
      id /= 64;
    }
  }
  void erase(std::uint32_t id) {
    for (auto& level : levels_) {
      if (id / 64 >= level.size()) return;
      std::uint64_t& word = level[id / 64];
      word &= ~(std::uint64_t{1} << (id % 64));
      if (word != 0) return;
      id /= 64;
    }
  }
  [[nodiscard]] bool empty() const { return levels_.empty() || levels_.back()[0] == 0; }
  [[nodiscard]] std::uint32_t first() const { return at_or_after(0); }

  // Smallest member >= id, or kNone.
  [[nodiscard]] std::uint32_t at_or_after(std::uint32_t id) const {
    std::uint64_t at = id;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (at / 64 >= levels_[level].size()) return kNone;
      const std::uint64_t word = levels_[level][at / 64] >> (at % 64);
      if (word != 0) {
        at += static_cast<unsigned>(std::countr_zero(word));
        while (level > 0) {
          --level;
          at = at * 64 + static_cast<unsigned>(std::countr_zero(levels_[level][at]));
        }
        return static_cast<std::uint32_t>(at);
      }
      at = at / 64 + 1;
    }
    return kNone;
  }
  // In increasing order; the visit may erase what it is at.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t id = first(); id != kNone; id = at_or_after(id + 1)) visit(id);
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // levels_[0] are the members
};

}  // namespace berth
