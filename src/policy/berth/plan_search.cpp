#include "policy/berth/plan_search.h"

#include <algorithm>
#include <numeric>

#include "policy/common/replicas.h"

namespace berth {

PlanSearch::PlanSearch(const ClusterView& view, const Room& free,
                       std::span<const Candidate> candidates)
    : view_(view), free_(free), candidates_(candidates) {
  while (running_ < candidates_.size() && candidates_[running_].runs > 0) ++running_;
  best_.order.resize(candidates_.size());
  std::iota(best_.order.begin(), best_.order.end(), 0U);
  std::ranges::stable_sort(best_.order, std::ranges::greater(), [&](std::uint32_t c) {
    return candidates_[c].density;
  });
  best_.pinned.assign(candidates_.size(), 0);
  std::fill_n(best_.pinned.begin(), running_, std::uint8_t{1});
  evaluate(best_, nullptr);
}

// The replicas of an unpinned job whose places are still free; returns how many.
std::uint32_t PlanSearch::keep_own(std::uint32_t c, Outcome* outcome) {
  const Job& spec = job(c);
  std::uint32_t kept = 0;
  for (std::uint32_t r = 0; r < spec.replicas; ++r) {
    const auto own = places_of_replica(view_, candidates_[c].id, r);
    if (!own.front().server.valid()) continue;
    if (room_.hold_if_free(spec, own)) {
      ++kept;
    } else if (outcome != nullptr) {
      outcome->lost.push_back(r);
    }
  }
  return kept;
}

std::uint32_t PlanSearch::add_replicas(std::uint32_t c, std::uint32_t wanted, Outcome* outcome) {
  const Job& spec = job(c);
  places_.clear();
  std::uint32_t added = 0;
  if (spec.partitions() == 1) {
    added = room_.take(spec, wanted, places_);
  } else {
    while (added < wanted && room_.take_all(spec, spec.partitions(), places_)) ++added;
  }
  if (outcome != nullptr) outcome->added = places_;
  return added;
}

void PlanSearch::evaluate(Arrangement& plan, std::vector<Outcome>* outcomes) {
  room_ = free_;
  for (std::uint32_t c = 0; c < running_; ++c) {
    if (plan.pinned[c] == 0) room_.give_back(job(c), view_.placements_of(candidates_[c].id));
  }
  plan.placed.assign(candidates_.size(), 0);
  plan.value = 0;
  for (const std::uint32_t c : plan.order) {
    const Candidate& candidate = candidates_[c];
    Outcome* const outcome = outcomes != nullptr ? &(*outcomes)[c] : nullptr;
    std::uint32_t& placed = plan.placed[c];
    placed = candidate.runs;
    if (candidate.runs > 0 && plan.pinned[c] == 0) placed = keep_own(c, outcome);
    const std::uint32_t lost = candidate.runs - placed;
    const std::uint32_t replicas = job(c).replicas;
    if (placed < replicas) placed += add_replicas(c, replicas - placed, outcome);
    plan.value += (candidate.value * placed - candidate.loss * lost) / replicas;
  }
}

void PlanSearch::accept_if_better() {
  evaluate(trial_, nullptr);
  if (trial_.value > best_.value) std::swap(trial_, best_);
}

// Those of less density that may leave make room, the least dense first, until the job fits.
bool PlanSearch::displace_for(std::uint32_t c) {
  const Job& spec = job(c);
  trial_ = best_;
  room_ = free_;
  for (std::uint32_t r = 0; r < running_; ++r) {
    if (trial_.pinned[r] == 0) room_.give_back(job(r), view_.placements_of(candidates_[r].id));
  }
  for (std::uint32_t r = running_; r > 0; --r) {
    const Candidate& runner = candidates_[r - 1];
    if (runner.density >= candidates_[c].density) return false;
    if (trial_.pinned[r - 1] == 0 || !runner.may_leave) continue;
    trial_.pinned[r - 1] = 0;
    room_.give_back(job(r - 1), view_.placements_of(runner.id));
    places_.clear();
    if (!room_.take_all(spec, spec.partitions(), places_)) {
      room_.give_back(spec, places_);
      continue;
    }
    return true;
  }
  return false;
}

void PlanSearch::displace_for_each() {
  for (std::uint32_t c = running_; c < candidates_.size(); ++c) {
    if (best_.placed[c] > 0 || !displace_for(c)) continue;
    accept_if_better();
  }
}

void PlanSearch::change_at_random(Arrangement& plan, Rng& rng) {
  const auto to = [&](std::uint32_t c, std::size_t position) {
    const auto at = std::ranges::find(plan.order, c);
    plan.order.erase(at);
    plan.order.insert(plan.order.begin() + static_cast<std::ptrdiff_t>(position), c);
  };
  const auto flip_some = [&](std::uint64_t most, bool only_off) {
    if (running_ == 0) return;
    for (std::uint64_t n = rng.below(most); n > 0; --n) {
      const auto r = static_cast<std::uint32_t>(rng.below(running_));
      if (!candidates_[r].may_leave) continue;
      plan.pinned[r] = only_off ? 0 : plan.pinned[r] ^ 1U;
    }
  };
  if (!unplaced_.empty() && rng.below(3) < 2) {
    const std::uint64_t u = std::min(rng.below(unplaced_.size()), rng.below(unplaced_.size()));
    to(unplaced_[u], 0);
    flip_some(4, true);
    return;
  }
  const std::uint64_t a = rng.below(plan.order.size());
  to(plan.order[a], rng.below(plan.order.size()));
  flip_some(3, false);
}

void PlanSearch::improve(const SearchEffort& effort, Rng& rng) {
  displace_for_each();
  const auto devices = static_cast<std::uint32_t>(view_.devices.size());
  const std::uint32_t tries = std::min(effort.tries, effort.devices / std::max(1U, devices));
  for (std::uint32_t n = 0; n < tries; ++n) {
    unplaced_.clear();
    for (std::uint32_t c = running_; c < candidates_.size(); ++c) {
      if (best_.placed[c] == 0) unplaced_.push_back(c);
    }
    trial_ = best_;
    change_at_random(trial_, rng);
    accept_if_better();
  }
}

std::vector<Outcome> PlanSearch::outcomes(Room& left) {
  std::vector<Outcome> out(candidates_.size());
  evaluate(best_, &out);
  left = room_;
  return out;
}

}  // namespace berth
