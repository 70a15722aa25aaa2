// The containers of base against the obvious ones of the standard library, on random operations.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/id_set.h"
#include "base/min_tree.h"
#include "base/ordered_blocks.h"
#include "base/random.h"

namespace berth {
namespace {

TEST(IdSet, EqualsStdSet) {
  for (const std::uint32_t size : {1U, 64U, 65U, 4097U, 300'000U}) {
    Rng rng(size);
    IdSet set;
    std::set<std::uint32_t> model;
    std::uint32_t room = 0;
    for (int step = 0; step < 4000; ++step) {
      if (step % 50 == 0) {
        room = std::min(size, room * 2 + 1);
        set.grow(room);
      }
      const auto id = static_cast<std::uint32_t>(rng.below(room));
      if (rng.chance(0.5)) {
        set.insert(id);
        model.insert(id);
      } else {
        set.erase(id);
        model.erase(id);
      }
      const auto from = static_cast<std::uint32_t>(rng.below(size + 10));
      const auto next = model.lower_bound(from);
      EXPECT_EQ(set.at_or_after(from), next == model.end() ? IdSet::kNone : *next);
      EXPECT_EQ(set.contains(from), model.contains(from));
      EXPECT_EQ(set.empty(), model.empty());
    }
  }
}

TEST(MinTree, FirstAtMostEqualsAScan) {
  Rng rng(4);
  MinTree tree;
  std::vector<std::int64_t> model;
  for (int step = 0; step < 5000; ++step) {
    if (model.empty() || rng.chance(0.2)) {
      EXPECT_EQ(tree.append(), model.size());
      model.push_back(MinTree::kAbsent);
    }
    const std::size_t at = rng.below(model.size());
    model[at] = rng.chance(0.3) ? MinTree::kAbsent : rng.uniform_int(0, 1000);
    tree.set(at, model[at]);
    const auto limit = rng.chance(0.1) ? MinTree::kAbsent - 1 : rng.uniform_int(-1, 1000);
    const std::size_t from = rng.below(model.size() + 2);
    std::size_t expected = MinTree::kNone;
    for (std::size_t i = from; i < model.size() && expected == MinTree::kNone; ++i) {
      if (model[i] <= limit) expected = i;
    }
    EXPECT_EQ(tree.first_at_most(limit, from), expected);
  }
}

TEST(OrderedBlocks, EqualsASortedMap) {
  Rng rng(6);
  OrderedBlocks blocks;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int32_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const bool grow = step < 8000 ? rng.chance(0.8) : rng.chance(0.35);
    if (grow || model.empty()) {
      const std::int64_t key = rng.uniform_int(-50, 500);
      const auto id = static_cast<std::uint32_t>(step);
      const auto weight = static_cast<std::int32_t>(rng.below(5));
      blocks.insert({key, id, weight});
      model.emplace(std::pair(key, id), weight);
    } else if (rng.chance(0.3)) {
      const auto [where, weight] = *model.begin();
      const std::int64_t key = rng.uniform_int(-50, 500);
      blocks.set_key(where.first, where.second, key);
      model.erase(model.begin());
      model.emplace(std::pair(key, where.second), weight);
    } else {
      auto victim = model.lower_bound({rng.uniform_int(-50, 500), 0});
      if (victim == model.end()) victim = model.begin();
      blocks.erase(victim->first.first, victim->first.second);
      model.erase(victim);
    }
    EXPECT_EQ(blocks.size(), model.size());
    if (step % 20 != 0) continue;
    const std::int64_t key = rng.uniform_int(-60, 510);
    std::int64_t before = 0;
    std::int64_t total = 0;
    for (const auto& [where, weight] : model) {
      if (where < std::pair(key, 0U)) before += weight;
      total += weight;
    }
    EXPECT_EQ(blocks.weight_before(key, 0), before);
    const OrderedBlocks::Entry probes[] = {{key, 0, 0}, {key, 9'000, 0}, {key + 40, 1, 0}};
    std::vector<std::size_t> counts;
    blocks.counts_before(probes, counts);
    ASSERT_EQ(counts.size(), std::size(probes));
    for (std::size_t p = 0; p < counts.size(); ++p) {
      const auto end = model.lower_bound({probes[p].key, probes[p].id});
      EXPECT_EQ(counts[p], static_cast<std::size_t>(std::distance(model.begin(), end)));
    }
    EXPECT_EQ(blocks.total_weight(), total);
    const auto next = model.lower_bound({key, 0});
    const auto* const found = blocks.at_or_after(key, 0);
    ASSERT_EQ(found == nullptr, next == model.end());
    if (found != nullptr) {
      EXPECT_EQ(found->id, next->first.second);
    }
    auto at = next;
    std::uint32_t steps = 0;
    blocks.for_each_from(key, 0, [&](const OrderedBlocks::Entry& entry) {
      EXPECT_EQ(std::pair(entry.key, entry.id), at->first);
      EXPECT_EQ(entry.weight, at->second);
      ++at;
      return ++steps < 700;
    });
    EXPECT_TRUE(steps == 700 || at == model.end());
    const std::int64_t amount = rng.uniform_int(1, total + 2);
    const OrderedBlocks::Entry* const reaching = blocks.first_reaching(amount);
    std::int64_t sum = 0;
    std::uint32_t expected = IdSet::kNone;
    for (const auto& [where, weight] : model) {
      sum += weight;
      if (sum >= amount) {
        expected = where.second;
        break;
      }
    }
    EXPECT_EQ(reaching == nullptr ? IdSet::kNone : reaching->id, expected);
  }
}

}  // namespace
}  // namespace berth
