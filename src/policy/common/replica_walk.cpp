#include "policy/common/replica_walk.h"

#include <algorithm>
#include <functional>

#include "policy/common/replicas.h"

namespace berth {
namespace {

bool goes_before(const ReplicaWalk::Unit& a, const ReplicaWalk::Unit& b) {
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.worth != b.worth) return a.worth > b.worth;
  if (a.job != b.job) return a.job.value < b.job.value;
  return a.number < b.number;
}

}  // namespace

ReplicaWalk::ReplicaWalk(const ClusterView& view, FreeIndex& free, std::span<const Unit> units)
    : view_(view), free_(free) {
  std::vector<Wish> wishes;
  for (const Unit& unit : units) {
    if (unit.runs) {
      runners_.push_back(unit);
      continue;
    }
    if (wanted_.empty() || wanted_.back().job != unit.job) {
      wishes.push_back({wanted_.size(), wanted_.size()});
    }
    wanted_.push_back(unit);
    ++wishes.back().end;
  }
  std::sort(runners_.begin(), runners_.end(), goes_before);
  walk(wishes);
  settle_places();
  std::erase_if(changes_, [](const auto& entry) {
    return entry.second.leaving.empty() && entry.second.starts.empty();
  });
}

// The next unit of each job that is still served is on a heap, the first in the order on top.
void ReplicaWalk::walk(std::vector<Wish>& wishes) {
  const auto comes_later = [&](const Wish& a, const Wish& b) {
    return goes_before(wanted_[b.next], wanted_[a.next]);
  };
  std::make_heap(wishes.begin(), wishes.end(), comes_later);
  while (!wishes.empty() || next_runner_ < runners_.size()) {
    if (next_runner_ < runners_.size() &&
        (wishes.empty() || goes_before(runners_[next_runner_], wanted_[wishes.front().next]))) {
      const Unit& runner = runners_[next_runner_++];
      // It has lost its places: there may be others.
      if (!runner.runs) (void)visit(runner);
      continue;
    }
    std::pop_heap(wishes.begin(), wishes.end(), comes_later);
    // What is refused once is refused to all further ones of the job.
    if (!visit(wanted_[wishes.back().next]) || ++wishes.back().next == wishes.back().end) {
      wishes.pop_back();
    } else {
      std::push_heap(wishes.begin(), wishes.end(), comes_later);
    }
  }
}

bool ReplicaWalk::visit(const Unit& unit) {
  const Job& job = view_.job(unit.job);
  if (kept_.bar(job)) return false;
  const Job replica = replicas_of(job, 1);
  if (refused_.contains(replica)) return false;
  if (!free_.fits(replica) && !make_room(unit, replica)) {
    refused_.add(replica);
    if (unit.privileged) kept_.keep_for(unit.job, job);
    return false;
  }
  if (!free_.take(replica, places_)) return false;
  // Which of its replicas it is shows at the end, when all are known.
  change_of(unit.job).starts.push_back({0, places_});
  return true;
}

ReplicaWalk::Change& ReplicaWalk::change_of(JobId id) {
  const auto [it, fresh] = changes_.try_emplace(id.value);
  if (!fresh || view_.state(id).status != JobStatus::kRunning) return it->second;
  for (std::uint32_t r = 0; r < view_.job(id).replicas; ++r) {
    if (places_of_replica(view_, id, r).front().server.valid()) it->second.staying.push_back(r);
  }
  return it->second;
}

// Of those that stay so far the one with the fewest others on its server, the last of such.
std::uint32_t ReplicaWalk::loneliest(JobId id, const Change& change) const {
  const auto server_of = [&](std::uint32_t replica) {
    return places_of_replica(view_, id, replica).front().server.value;
  };
  std::map<std::uint32_t, std::uint32_t> on_server;  // by ServerId
  for (const std::uint32_t replica : change.staying) ++on_server[server_of(replica)];
  std::uint32_t best = change.staying.front();
  for (const std::uint32_t replica : change.staying) {
    const std::uint32_t here = on_server[server_of(replica)];
    const std::uint32_t least = on_server[server_of(best)];
    if (here < least || (here == least && replica > best)) best = replica;
  }
  return best;
}

void ReplicaWalk::leave(const Moved& moved) {
  const JobId id = runners_[moved.runner].job;
  Change& change = change_of(id);
  std::erase(change.staying, moved.replica);
  change.leaving.push_back(moved.replica);
  free_.give_back(replicas_of(view_.job(id), 1), places_of_replica(view_, id, moved.replica));
}

void ReplicaWalk::stay(const Moved& moved) {
  const JobId id = runners_[moved.runner].job;
  Change& change = change_of(id);
  std::erase(change.leaving, moved.replica);
  change.staying.push_back(moved.replica);
  free_.hold(replicas_of(view_.job(id), 1), places_of_replica(view_, id, moved.replica));
}

// Whether what is free and what replicas after this one hold that may leave, or all of them, is as
// much as it asks for: a count is cheap, and seldom wrong.
bool ReplicaWalk::enough(const Job& replica, bool all) const {
  std::int64_t milli = free_.free_milli(replica.gpu_types);
  for (std::size_t r = runners_.size(); r > next_runner_ && milli < replica.gpu_milli(); --r) {
    const Unit& unit = runners_[r - 1];
    if (!unit.runs || !(all || unit.may_leave)) continue;
    if ((types_held(view_, unit.job) & replica.gpu_types) == 0) continue;
    milli += replicas_of(view_.job(unit.job), 1).gpu_milli();
  }
  return milli >= replica.gpu_milli();
}

bool ReplicaWalk::make_room(const Unit& unit, const Job& replica) {
  if (next_runner_ == runners_.size()) return false;
  if (!enough(replica, false)) {
    if (enough(replica, true)) kept_.keep_for(unit.job, view_.job(unit.job));
    return false;
  }
  moved_.clear();
  for (std::size_t r = runners_.size(); r > next_runner_ && !free_.fits(replica); --r) {
    const Unit& last = runners_[r - 1];
    if (!last.runs || !last.may_leave) continue;
    if ((types_held(view_, last.job) & replica.gpu_types) == 0) continue;
    moved_.push_back({r - 1, loneliest(last.job, change_of(last.job))});
    leave(moved_.back());
  }
  const bool fits = free_.fits(replica);
  // Not all of them are in the way: the first in the order stay if there is room without them.
  for (std::size_t m = moved_.size(); m > 0; --m) {
    const Moved& moved = moved_[m - 1];
    stay(moved);
    if (!fits || free_.fits(replica)) continue;
    leave(moved);
    runners_[moved.runner].runs = false;
    change_of(runners_[moved.runner].job).displaced_by = unit.job;
  }
  return fits;
}

// What starts was taken replica by replica, in the order of worth: taken anew, job by job and the
// largest first, each lies closer together.
void ReplicaWalk::settle_places() {
  std::vector<JobId> starting;
  for (auto& [id, change] : changes_) {
    std::ranges::sort(change.staying);
    if (!change.starts.empty()) starting.emplace_back(id);
  }
  const auto part_of = [&](JobId id) {
    return replicas_of(view_.job(id),
                       static_cast<std::uint32_t>(changes_.at(id.value).starts.size()));
  };
  std::ranges::stable_sort(starting, std::greater<>(),
                           [&](JobId id) { return part_of(id).gpu_milli(); });
  const bool scattered = std::ranges::any_of(
      starting, [&](JobId id) { return changes_.at(id.value).starts.size() > 1; });
  if (scattered) take_anew(starting);
  for (const JobId id : starting) {
    Change& change = changes_.at(id.value);
    std::uint32_t replica = 0;
    for (ReplicaStart& start : change.starts) {
      while (std::ranges::binary_search(change.staying, replica)) ++replica;
      start.replica = replica++;
    }
  }
}

// In this order; or nothing changes, if then not all of them fit.
void ReplicaWalk::take_anew(const std::vector<JobId>& starting) {
  for (const JobId id : starting) {
    for (const ReplicaStart& start : changes_.at(id.value).starts) {
      free_.give_back(replicas_of(view_.job(id), 1), start.places);
    }
  }
  std::vector<std::vector<Placement>> taken;
  for (const JobId id : starting) {
    const auto replicas = static_cast<std::uint32_t>(changes_.at(id.value).starts.size());
    if (!free_.take(replicas_of(view_.job(id), replicas), places_)) break;
    taken.push_back(places_);
  }
  if (taken.size() < starting.size()) {
    for (std::size_t s = 0; s < taken.size(); ++s) {
      free_.give_back(replicas_of(view_.job(starting[s]), 1), taken[s]);
    }
    for (const JobId id : starting) {
      for (const ReplicaStart& start : changes_.at(id.value).starts) {
        free_.hold(replicas_of(view_.job(id), 1), start.places);
      }
    }
    return;
  }
  for (std::size_t s = 0; s < starting.size(); ++s) {
    const std::uint32_t tasks = view_.job(starting[s]).partitions();
    auto from = taken[s].begin();
    for (ReplicaStart& start : changes_.at(starting[s].value).starts) {
      start.places.assign(from, from + tasks);
      from += tasks;
    }
  }
}

}  // namespace berth
