#include "engine/max_min.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace berth {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

using Rates = std::vector<std::int64_t>;

Rates solve(const std::vector<Flow>& flows, const Rates& capacity) {
  MaxMin max_min;
  Rates rates;
  max_min.solve(flows, capacity, rates);
  return rates;
}

bool uses(const Flow& flow, std::uint32_t link) {
  return flow.link_a == link || flow.link_b == link;
}

// Links 0, 1, 2 carry 90, 120 and 300.
// Link 0 has flows 0, 1 and 2 and fills at 30 each. Link 1 then has 120 - 30 (flow 1) for flow 3
// alone: 90. Link 2 has 300 - 30 (flow 2) - 90 (flow 3) left over.
TEST(MaxMin, FourFlowsOverThreeLinks) {
  const std::vector<Flow> flows = {{0, 0, kAll}, {0, 1, kAll}, {0, 2, kAll}, {1, 2, kAll}};
  EXPECT_EQ(solve(flows, {90, 120, 300}), (Rates{30, 30, 30, 90}));
}

// As above, but flow 0 wants only 10: link 0 has 80 for two, 40 each, and flow 3 gets 80.
TEST(MaxMin, WhatOneDoesNotWantGoesToTheOthers) {
  const std::vector<Flow> flows = {{0, 0, 10}, {0, 1, kAll}, {0, 2, kAll}, {1, 2, kAll}};
  EXPECT_EQ(solve(flows, {90, 120, 300}), (Rates{10, 40, 40, 80}));
}

TEST(MaxMin, NothingToDo) {
  EXPECT_EQ(solve({}, {}), Rates{});
  EXPECT_EQ(solve({}, {5, 0}), Rates{});
  EXPECT_EQ(solve({{0, 1, 0}, {0, 1, -3}}, {5, 5}), (Rates{0, 0}));
}

TEST(MaxMin, ALinkWithoutLimitCarriesWhatIsWanted) {
  EXPECT_EQ(solve({{0, 1, kAll}, {0, 1, 7}}, {0, 0}), (Rates{kAll, 7}));
  EXPECT_EQ(solve({{0, 1, kAll}, {0, 1, 7}}, {0, 100}), (Rates{93, 7}));
}

TEST(MaxMin, AFlowWithinOneLinkCountsOnce) {
  EXPECT_EQ(solve({{0, 0, kAll}, {0, 1, kAll}}, {100, 1000}), (Rates{50, 50}));
}

TEST(MaxMin, RoundsDownAndGrantsAtLeastOne) {
  EXPECT_EQ(solve({{0, 0, kAll}, {0, 0, kAll}, {0, 0, kAll}}, {11}), (Rates{3, 3, 3}));
  EXPECT_EQ(solve({{0, 0, kAll}, {0, 0, 2}, {0, 0, kAll}}, {2}), (Rates{1, 1, 1}));
  // What the first bottleneck's rounding leaves (11 - 3 * 3 = 2) is there for nobody else, but
  // link 1 fills with what its flow of link 0 really takes.
  EXPECT_EQ(solve({{0, 1, kAll}, {0, 0, kAll}, {0, 0, kAll}, {1, 1, kAll}}, {11, 100}),
            (Rates{3, 3, 3, 97}));
}

TEST(MaxMin, LargestNumbers) {
  EXPECT_EQ(solve({{0, 1, kAll}, {0, 1, kAll}}, {kAll, kAll}), (Rates{kAll / 2, kAll / 2}));
}

TEST(MaxMin, SolvingAgainForgetsTheLast) {
  MaxMin max_min;
  Rates rates;
  const std::vector<Flow> many(100, Flow{0, 2, kAll});
  max_min.solve(many, Rates{1000, 1000, 1000}, rates);
  const std::vector<Flow> one = {{0, 1, kAll}};
  max_min.solve(one, Rates{60, 50}, rates);
  EXPECT_EQ(rates, Rates{50});
}

struct Case {
  std::vector<Flow> flows;
  Rates capacity;
};

Case random_case(Rng& rng, std::size_t most_flows, std::size_t most_links, std::int64_t unit,
                 std::int64_t most) {
  Case out;
  const auto links = static_cast<std::uint32_t>(rng.uniform_int(1, static_cast<int>(most_links)));
  const std::int64_t flows = rng.uniform_int(0, static_cast<int>(most_flows));
  for (std::uint32_t l = 0; l < links; ++l) {
    out.capacity.push_back(rng.chance(0.1) ? 0 : unit * rng.uniform_int(1, most));
  }
  for (std::int64_t f = 0; f < flows; ++f) {
    out.flows.push_back({static_cast<std::uint32_t>(rng.below(links)),
                         static_cast<std::uint32_t>(rng.below(links)),
                         rng.chance(0.3)   ? kAll
                         : rng.chance(0.1) ? 0
                                           : unit * rng.uniform_int(1, most)});
  }
  return out;
}

// A flow has its demand, or crosses a full link on which nobody has more. A link is full when what
// is left is less than one more byte for each of its flows that could take one.
void expect_max_min(const Case& c, const Rates& rates) {
  const std::size_t links = c.capacity.size();
  Rates used(links, 0);
  Rates largest(links, 0);
  Rates crossing(links, 0);
  for (std::size_t f = 0; f < c.flows.size(); ++f) {
    for (std::uint32_t l = 0; l < links; ++l) {
      if (!uses(c.flows[f], l) || c.capacity[l] == 0) continue;
      used[l] += rates[f];
      largest[l] = std::max(largest[l], rates[f]);
      ++crossing[l];
    }
  }
  for (std::uint32_t l = 0; l < links; ++l) {
    if (c.capacity[l] == 0) continue;
    // Over capacity only through the least rate of 1.
    EXPECT_LE(used[l], std::max(c.capacity[l], crossing[l])) << "link " << l;
  }
  for (std::size_t f = 0; f < c.flows.size(); ++f) {
    const std::int64_t demand = c.flows[f].demand_bytes_per_s;
    EXPECT_LE(rates[f], demand);
    EXPECT_GE(rates[f], std::min<std::int64_t>(demand, 1));
    if (rates[f] == demand) continue;
    bool stopped = false;
    for (std::uint32_t l = 0; l < links; ++l) {
      stopped = stopped || (uses(c.flows[f], l) && c.capacity[l] > 0 && rates[f] == largest[l] &&
                            c.capacity[l] - used[l] < crossing[l]);
    }
    EXPECT_TRUE(stopped) << "flow " << f << " at " << rates[f] << " could have more";
  }
}

TEST(MaxMin, NobodyCanHaveMoreOnRandomCases) {
  const Rng root(20260801);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng = root.fork(seed);
    const std::int64_t most = rng.chance(0.5) ? 1'000'000'000'000 : 300;
    const Case c = random_case(rng, 30, 8, 1, most);
    expect_max_min(c, solve(c.flows, c.capacity));
  }
}

TEST(MaxMin, NobodyCanHaveMoreOnALargeCase) {
  Rng rng(7);
  Case c;
  for (int l = 0; l < 500; ++l) c.capacity.push_back(rng.uniform_int(1, 12'500'000'000));
  for (int f = 0; f < 5000; ++f) {
    c.flows.push_back({static_cast<std::uint32_t>(rng.below(500)),
                       static_cast<std::uint32_t>(rng.below(500)),
                       rng.uniform_int(1, 2'000'000'000)});
  }
  expect_max_min(c, solve(c.flows, c.capacity));
}

// The slow and obvious way: everybody's water rises by one until a link cannot carry one more for
// each of its open flows.
Rates by_single_bytes(const Case& c) {
  const std::size_t links = c.capacity.size();
  Rates rates(c.flows.size(), 0);
  std::vector<bool> open(c.flows.size());
  for (std::size_t f = 0; f < c.flows.size(); ++f) open[f] = c.flows[f].demand_bytes_per_s > 0;
  const auto cannot_rise = [&](std::uint32_t l) {
    std::int64_t used = 0;
    std::int64_t rising = 0;
    for (std::size_t f = 0; f < c.flows.size(); ++f) {
      if (!uses(c.flows[f], l)) continue;
      used += rates[f];
      rising += open[f] ? 1 : 0;
    }
    return c.capacity[l] > 0 && rising > 0 && used + rising > c.capacity[l];
  };
  while (std::ranges::find(open, true) != open.end()) {
    for (std::size_t f = 0; f < open.size(); ++f) rates[f] += open[f] ? 1 : 0;
    for (std::size_t f = 0; f < open.size(); ++f) {
      if (rates[f] == c.flows[f].demand_bytes_per_s) open[f] = false;
    }
    for (std::uint32_t l = 0; l < links; ++l) {
      if (!cannot_rise(l)) continue;
      for (std::size_t f = 0; f < open.size(); ++f) {
        if (uses(c.flows[f], l)) open[f] = false;
      }
    }
  }
  return rates;
}

TEST(MaxMin, AgreesWithRaisingEverybodyByOneByte) {
  const Rng root(20260802);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng = root.fork(seed);
    Case c = random_case(rng, 12, 5, 1, 60);
    // Without an end the single bytes would never arrive.
    for (Flow& flow : c.flows) {
      flow.demand_bytes_per_s = std::min<std::int64_t>(flow.demand_bytes_per_s, 200);
    }
    ASSERT_EQ(solve(c.flows, c.capacity), by_single_bytes(c)) << "seed " << seed;
  }
}

__extension__ using Wide = __int128;

// A rational number of which only comparing, subtracting a whole multiple and dividing by a count
// are wanted.
struct Fraction {
  Wide over = 0;
  Wide under = 1;
};

Fraction reduced(Wide over, Wide under) {
  Wide a = over;
  Wide b = under;
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return {over / a, under / a};
}

bool less(const Fraction& a, const Fraction& b) {
  return a.over * b.under < b.over * a.under;
}

// Water-filling in exact fractions: the lowest of all links' equal shares and all open demands,
// again and again.
std::vector<Fraction> by_fractions(const Case& c) {
  std::vector<Fraction> rates(c.flows.size());
  std::vector<bool> open(c.flows.size());
  for (std::size_t f = 0; f < c.flows.size(); ++f) open[f] = c.flows[f].demand_bytes_per_s > 0;
  while (std::ranges::find(open, true) != open.end()) {
    Fraction lowest{kAll, 1};
    std::vector<bool> settles(c.flows.size(), false);
    const auto offer = [&](const Fraction& level, auto settling) {
      if (less(lowest, level)) return;
      if (less(level, lowest)) settles.assign(settles.size(), false);
      lowest = level;
      for (std::size_t f = 0; f < open.size(); ++f) settles[f] = settles[f] || settling(f);
    };
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (!open[at]) continue;
      offer({c.flows[at].demand_bytes_per_s, 1}, [&](std::size_t f) { return f == at; });
    }
    for (std::uint32_t l = 0; l < c.capacity.size(); ++l) {
      Fraction left{c.capacity[l], 1};
      std::int64_t rising = 0;
      for (std::size_t f = 0; f < open.size(); ++f) {
        if (!uses(c.flows[f], l)) continue;
        rising += open[f] ? 1 : 0;
        left = reduced(left.over * rates[f].under - rates[f].over * left.under,
                       left.under * rates[f].under);
      }
      if (c.capacity[l] == 0 || rising == 0) continue;
      offer(reduced(left.over, left.under * rising),
            [&](std::size_t f) { return open[f] && uses(c.flows[f], l); });
    }
    for (std::size_t f = 0; f < open.size(); ++f) {
      if (!settles[f]) continue;
      rates[f] = lowest;
      open[f] = false;
    }
  }
  return rates;
}

// With capacities that every share divides nothing is rounded, and the two must be equal: four
// bottlenecks of up to eight flows each, and 840 is the least common multiple of 1 to 8.
TEST(MaxMin, EqualsExactFractionsWhereNothingIsRounded) {
  constexpr std::int64_t kUnit = 840LL * 840 * 840 * 840;
  const Rng root(20260803);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng = root.fork(seed);
    const Case c = random_case(rng, 8, 4, kUnit, 1000);
    const Rates rates = solve(c.flows, c.capacity);
    const std::vector<Fraction> exact = by_fractions(c);
    for (std::size_t f = 0; f < rates.size(); ++f) {
      ASSERT_EQ(exact[f].under, 1) << "seed " << seed;
      ASSERT_EQ(exact[f].over, rates[f]) << "seed " << seed << " flow " << f;
    }
  }
}

}  // namespace
}  // namespace berth
