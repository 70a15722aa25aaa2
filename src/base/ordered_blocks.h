// Entries in order of (key, id) with a weight each, in blocks of a few hundred: insert and erase
// move one block's tail, and sums of weights skip whole blocks. Order depends on the content alone,
// not on its history.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth {

class OrderedBlocks {
 public:
  struct Entry {
    std::int64_t key = 0;
    std::uint32_t id = 0;
    std::int32_t weight = 0;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key < b.key : a.id < b.id;
    }
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int64_t total_weight() const { return total_; }
  [[nodiscard]] const Entry& front() const { return blocks_.front().entries.front(); }

  void clear() {
    blocks_.clear();
    size_ = 0;
    total_ = 0;
  }

  void insert(const Entry& entry) {
    if (blocks_.empty()) blocks_.emplace_back();
    std::size_t b = block_of(entry);
    if (b == blocks_.size()) --b;
    auto& entries = blocks_[b].entries;
    entries.insert(std::upper_bound(entries.begin(), entries.end(), entry), entry);
    blocks_[b].weight += entry.weight;
    ++size_;
    total_ += entry.weight;
    if (entries.size() > kMaxBlock) split(b);
  }

  // The entry with this key and id must be there.
  void erase(std::int64_t key, std::uint32_t id) {
    const Entry probe{key, id, 0};
    const std::size_t b = block_of(probe);
    assert(b < blocks_.size());
    auto& entries = blocks_[b].entries;
    const auto it = std::lower_bound(entries.begin(), entries.end(), probe);
    assert(it != entries.end() && it->key == key && it->id == id);
    blocks_[b].weight -= it->weight;
    total_ -= it->weight;
    --size_;
    entries.erase(it);
    if (entries.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b));
  }

  // The same; its weight stays.
  void set_key(std::int64_t key, std::uint32_t id, std::int64_t new_key) {
    if (size_ == 1) {
      blocks_.front().entries.front().key = new_key;
      return;
    }
    const Entry entry{new_key, id, at_or_after(key, id)->weight};
    erase(key, id);
    insert(entry);
  }

  // Sum of the weights of entries before (key, id).
  [[nodiscard]] std::int64_t weight_before(std::int64_t key, std::uint32_t id) const {
    const Entry probe{key, id, 0};
    const std::size_t b = block_of(probe);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < b; ++i) sum += blocks_[i].weight;
    if (b == blocks_.size()) return sum;
    for (const Entry& entry : blocks_[b].entries) {
      if (!(entry < probe)) break;
      sum += entry.weight;
    }
    return sum;
  }

  // For each of the probes, which are in order, how many entries come before it.
  void counts_before(std::span<const Entry> probes, std::vector<std::size_t>& counts) const {
    counts.clear();
    std::size_t passed = 0;
    std::size_t b = 0;
    for (const Entry& probe : probes) {
      while (b < blocks_.size() && blocks_[b].entries.back() < probe) {
        passed += blocks_[b++].entries.size();
      }
      std::size_t in_block = 0;
      if (b < blocks_.size()) {
        const auto& entries = blocks_[b].entries;
        in_block = static_cast<std::size_t>(
            std::lower_bound(entries.begin(), entries.end(), probe) - entries.begin());
      }
      counts.push_back(passed + in_block);
    }
  }

  // The first entry at which the running sum of weights reaches `amount`; null if it never does.
  [[nodiscard]] const Entry* first_reaching(std::int64_t amount) const {
    std::int64_t sum = 0;
    for (const Block& block : blocks_) {
      if (sum + block.weight < amount) {
        sum += block.weight;
        continue;
      }
      for (const Entry& entry : block.entries) {
        sum += entry.weight;
        if (sum >= amount) return &entry;
      }
    }
    return nullptr;
  }

  // The first entry at or after (key, id); null if there is none.
  [[nodiscard]] const Entry* at_or_after(std::int64_t key, std::uint32_t id) const {
    const Entry probe{key, id, 0};
    const std::size_t b = block_of(probe);
    if (b == blocks_.size()) return nullptr;
    const auto& entries = blocks_[b].entries;
    return &*std::lower_bound(entries.begin(), entries.end(), probe);
  }

  // The last entry; null if there is none.
  [[nodiscard]] const Entry* back() const {
    return empty() ? nullptr : &blocks_.back().entries.back();
  }

  // From the first entry at or after (key, id) on, until the visit says false.
  template <class Visit>
  void for_each_from(std::int64_t key, std::uint32_t id, Visit&& visit) const {
    const Entry probe{key, id, 0};
    for (std::size_t b = block_of(probe); b < blocks_.size(); ++b) {
      const auto& entries = blocks_[b].entries;
      auto it = std::lower_bound(entries.begin(), entries.end(), probe);
      for (; it != entries.end(); ++it) {
        if (!visit(*it)) return;
      }
    }
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Block& block : blocks_) {
      for (const Entry& entry : block.entries) visit(entry);
    }
  }

 private:
  static constexpr std::size_t kMaxBlock = 256;

  struct Block {
    std::vector<Entry> entries;  // never empty, but in a list without entries
    std::int64_t weight = 0;
  };

  // The first block whose last entry is not before `probe`.
  [[nodiscard]] std::size_t block_of(const Entry& probe) const {
    const auto it = std::lower_bound(blocks_.begin(), blocks_.end(), probe,
                                     [](const Block& block, const Entry& entry) {
                                       return block.entries.empty() || block.entries.back() < entry;
                                     });
    return static_cast<std::size_t>(it - blocks_.begin());
  }

  void split(std::size_t b) {
    Block tail;
    auto& head = blocks_[b].entries;
    const auto middle = head.begin() + static_cast<std::ptrdiff_t>(head.size() / 2);
    tail.entries.reserve(kMaxBlock + 1);
    tail.entries.assign(middle, head.end());
    head.erase(middle, head.end());
    for (const Entry& entry : tail.entries) tail.weight += entry.weight;
    blocks_[b].weight -= tail.weight;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(tail));
  }

  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace berth
