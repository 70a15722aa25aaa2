#include "policy/berth/plan_search.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "policy/common/replicas.h"

namespace berth {

void PlanSearch::begin(const ClusterView& view, const Room& free,
                       std::span<const Candidate> candidates) {
  view_ = &view;
  free_ = &free;
  candidates_ = candidates;
  running_ = 0;
  while (running_ < candidates_.size() && candidates_[running_].runs > 0) ++running_;
  best_.order.resize(candidates_.size());
  std::iota(best_.order.begin(), best_.order.end(), 0U);
  std::ranges::stable_sort(best_.order, std::ranges::greater(),
                           [&](std::uint32_t c) { return candidates_[c].density; });
  best_.pinned.assign(candidates_.size(), 0);
  std::fill_n(best_.pinned.begin(), running_, std::uint8_t{1});
  evaluate(best_, nullptr);
}

void PlanSearch::free_all_but_pinned(const Plan& plan) {
  room_ = *free_;
  for (std::uint32_t c = 0; c < running_; ++c) {
    if (plan.pinned[c] == 0) room_.give_back(job(c), view_->placements_of(candidates_[c].id));
  }
}

// The replicas of an unpinned job whose places are still free.
std::uint32_t PlanSearch::keep_own(std::uint32_t c, Outcome* outcome) {
  const Job& spec = job(c);
  std::uint32_t kept = 0;
  for (std::uint32_t r = 0; r < spec.replicas; ++r) {
    const auto own = places_of_replica(*view_, candidates_[c].id, r);
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

void PlanSearch::evaluate(Plan& plan, std::vector<Outcome>* outcomes, bool spreads) {
  free_all_but_pinned(plan);
  room_.spread(spreads);
  plan.placed.assign(candidates_.size(), 0);
  lost_.assign(candidates_.size(), 0);
  for (const std::uint32_t c : plan.order) {
    const Candidate& candidate = candidates_[c];
    Outcome* const outcome = outcomes != nullptr ? &(*outcomes)[c] : nullptr;
    std::uint32_t placed = candidate.runs;
    if (candidate.runs > 0 && plan.pinned[c] == 0) placed = keep_own(c, outcome);
    lost_[c] = candidate.runs - placed;
    const std::uint32_t replicas = job(c).replicas;
    if (placed < replicas) placed += add_replicas(c, replicas - placed, outcome);
    plan.placed[c] = placed;
  }
  // Not in the order of the plan: plans that come to the same are worth the same, to the last bit.
  plan.value = 0;
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    const Candidate& candidate = candidates_[c];
    plan.value += (candidate.value * plan.placed[c] - candidate.loss * lost_[c]) / job(c).replicas;
  }
}

void PlanSearch::try_it() {
  evaluate(trial_, nullptr);
  if (trial_.value > best_.value) std::swap(trial_, best_);
}

// Those of less density that may leave are unpinned, the least dense first, until the job would
// fit. It goes before all that are not pinned, and what it leaves them they keep.
bool PlanSearch::displace_for(std::uint32_t c) {
  const Job& spec = job(c);
  const std::uint32_t tasks = spec.partitions();
  trial_ = best_;
  put(trial_, c, 0);
  free_all_but_pinned(trial_);
  std::uint32_t unpinned = 0;
  std::uint32_t look_again = 1;  // looking costs as much as unpinning many
  for (std::uint32_t r = running_; r > 0; --r) {
    const Candidate& runner = candidates_[r - 1];
    if (runner.density >= candidates_[c].density) break;
    if (trial_.pinned[r - 1] == 0 || !runner.may_leave) continue;
    trial_.pinned[r - 1] = 0;
    room_.give_back(job(r - 1), view_->placements_of(runner.id));
    if (++unpinned < look_again || room_.free_milli() < tasks * spec.gpu_milli_per_task) continue;
    look_again = unpinned + 1 + unpinned / 4;
    places_.clear();
    if (room_.take_all(spec, tasks, places_)) return true;
  }
  places_.clear();
  return unpinned > 0 && room_.take_all(spec, tasks, places_);
}

void PlanSearch::put(Plan& plan, std::uint32_t c, std::size_t position) const {
  plan.order.erase(std::ranges::find(plan.order, c));
  plan.order.insert(plan.order.begin() + static_cast<std::ptrdiff_t>(position), c);
}

// Most often a job that waits goes first, and some of those that run are unpinned; else any job
// takes any place in the order.
void PlanSearch::change_at_random(Plan& plan, Rng& rng) {
  constexpr std::uint64_t kMostUnpinned = 3;
  constexpr std::uint64_t kMostFlipped = 2;
  const bool one_that_waits = !unplaced_.empty() && rng.below(3) < 2;
  if (one_that_waits) {
    const std::uint64_t one = rng.below(unplaced_.size());
    const std::uint64_t other = rng.below(unplaced_.size());
    put(plan, unplaced_[std::min(one, other)], 0);  // rather one of the densest
  } else {
    const std::uint32_t any = plan.order[rng.below(plan.order.size())];
    put(plan, any, rng.below(plan.order.size()));
  }
  if (running_ == 0) return;
  for (std::uint64_t n = rng.below((one_that_waits ? kMostUnpinned : kMostFlipped) + 1); n > 0;
       --n) {
    const std::uint64_t r = rng.below(running_);
    if (!candidates_[r].may_leave) continue;
    plan.pinned[r] = one_that_waits || plan.pinned[r] != 0 ? 0 : 1;
  }
}

void PlanSearch::improve(std::uint32_t tries, Rng& rng) {
  if (candidates_.empty()) return;
  for (std::uint32_t c = running_; c < candidates_.size(); ++c) {
    if (best_.placed[c] == 0 && candidates_[c].displaces && displace_for(c)) try_it();
  }
  for (; tries > 0; --tries) {
    unplaced_.clear();
    for (std::uint32_t c = running_; c < candidates_.size(); ++c) {
      if (best_.placed[c] == 0) unplaced_.push_back(c);
    }
    trial_ = best_;
    change_at_random(trial_, rng);
    try_it();
  }
}

bool PlanSearch::all_run(const Plan& plan) const {
  for (std::uint32_t c = 0; c < candidates_.size(); ++c) {
    if (plan.placed[c] < job(c).replicas) return false;
  }
  return true;
}

void PlanSearch::finish(std::vector<Outcome>& outcomes, Room& left) {
  outcomes.assign(candidates_.size(), {});
  if (all_run(best_)) {
    evaluate(best_, &outcomes, true);
    if (all_run(best_)) return void(left = room_);
    outcomes.assign(candidates_.size(), {});
  }
  evaluate(best_, &outcomes);
  left = room_;
}

}  // namespace berth
