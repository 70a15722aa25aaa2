#include "engine/max_min.h"

#include <algorithm>
#include <tuple>

namespace berth {
namespace {

constexpr std::int64_t kOpen = -1;  // the rate of a flow that has not settled

constexpr auto kHigher = [](const auto& a, const auto& b) {
  return std::tie(a.rate, a.link) > std::tie(b.rate, b.link);
};

template <class Visit>
void for_links_of(const Flow& flow, Visit visit) {
  visit(flow.link_a);
  if (flow.link_b != flow.link_a) visit(flow.link_b);
}

}  // namespace

void MaxMin::index_flows(std::span<const Flow> flows, std::span<const std::int64_t> capacity) {
  left_.assign(capacity.begin(), capacity.end());
  open_.assign(capacity.size(), 0);
  by_demand_.clear();
  for (std::uint32_t f = 0; f < flows.size(); ++f) {
    if (flows[f].demand_bytes_per_s <= 0) continue;
    by_demand_.push_back(f);
    for_links_of(flows[f], [&](std::uint32_t link) { ++open_[link]; });
  }
  first_.assign(capacity.size() + 1, 0);
  for (std::size_t link = 0; link < capacity.size(); ++link) {
    first_[link + 1] = first_[link] + open_[link];
  }
  flows_of_.resize(first_.back());
  for (const std::uint32_t f : by_demand_) {
    for_links_of(flows[f], [&](std::uint32_t link) { flows_of_[first_[link]++] = f; });
  }
  // Filling moved each start to the next link's.
  std::shift_right(first_.begin(), first_.end(), 1);
  first_.front() = 0;
  std::ranges::sort(by_demand_, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(flows[a].demand_bytes_per_s, a) < std::tie(flows[b].demand_bytes_per_s, b);
  });
}

std::int64_t MaxMin::level_of(std::uint32_t link) const {
  return std::max<std::int64_t>(1, left_[link] / static_cast<std::int64_t>(open_[link]));
}

void MaxMin::settle(const Flow& flow, std::int64_t rate) {
  for_links_of(flow, [&](std::uint32_t link) {
    --open_[link];
    // Below 0 only through the least rate of 1, which a full link grants as well; a link without
    // limit (0) has no level, so what is left of it is not read.
    left_[link] = std::max<std::int64_t>(0, left_[link] - rate);
  });
}

void MaxMin::settle_link(std::uint32_t link, std::int64_t rate, std::span<const Flow> flows,
                         std::vector<std::int64_t>& rates) {
  for (std::uint32_t i = first_[link]; i < first_[link + 1]; ++i) {
    const std::uint32_t f = flows_of_[i];
    if (rates[f] != kOpen) continue;
    rates[f] = rate;
    settle(flows[f], rate);
  }
}

void MaxMin::solve(std::span<const Flow> flows, std::span<const std::int64_t> capacity_bytes_per_s,
                   std::vector<std::int64_t>& rates_bytes_per_s) {
  index_flows(flows, capacity_bytes_per_s);
  rates_bytes_per_s.assign(flows.size(), 0);
  for (const std::uint32_t f : by_demand_) rates_bytes_per_s[f] = kOpen;
  levels_.clear();
  for (std::uint32_t link = 0; link < capacity_bytes_per_s.size(); ++link) {
    if (capacity_bytes_per_s[link] > 0 && open_[link] > 0) {
      levels_.push_back({level_of(link), link});
    }
  }
  std::ranges::make_heap(levels_, kHigher);

  // A link's level only rises while flows settle at no more than the lowest level, so that an old
  // entry of the heap is a lower bound, put right when it comes up.
  std::size_t next = 0;  // in by_demand_
  while (next < by_demand_.size()) {
    const std::uint32_t f = by_demand_[next];
    const Flow& flow = flows[f];
    if (rates_bytes_per_s[f] != kOpen) {
      ++next;
    } else if (levels_.empty() || flow.demand_bytes_per_s <= levels_.front().rate) {
      rates_bytes_per_s[f] = flow.demand_bytes_per_s;
      settle(flow, flow.demand_bytes_per_s);
      ++next;
    } else {
      std::ranges::pop_heap(levels_, kHigher);
      Level& lowest = levels_.back();
      if (open_[lowest.link] == 0) {
        levels_.pop_back();
      } else if (const std::int64_t rate = level_of(lowest.link); rate > lowest.rate) {
        lowest.rate = rate;
        std::ranges::push_heap(levels_, kHigher);
      } else {
        settle_link(lowest.link, rate, flows, rates_bytes_per_s);
        levels_.pop_back();
      }
    }
  }
}

}  // namespace berth
