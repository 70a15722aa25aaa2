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

ReplicaWalk::ReplicaWalk(const ClusterView& view, FreeIndex& free, std::vector<Unit> units)
    : view_(view), free_(free), units_(std::move(units)) {
  std::sort(units_.begin(), units_.end(), goes_before);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (units_[u].runs) runners_.push_back(u);
  }
  for (; next_ < units_.size(); ++next_) {
    if (!units_[next_].runs) visit(units_[next_]);
  }
  settle_places();
  std::erase_if(changes_, [](const auto& entry) {
    return entry.second.leaving.empty() && entry.second.starts.empty();
  });
}

void ReplicaWalk::visit(Unit& unit) {
  const Job& job = view_.job(unit.job);
  if ((job.gpu_types & kept_types_) != 0) return;
  const Job replica = replicas_of(job, 1);
  if (refused_.contains(replica)) return;
  if (!free_.fits(replica) && !make_room(unit, replica)) {
    refused_.add(replica);
    if (unit.privileged) keep_for(unit.job, job);
    return;
  }
  if (!free_.take(replica, places_)) return;
  // Which of its replicas it is shows at the end, when all are known.
  change_of(unit.job).starts.push_back({0, places_});
}

void ReplicaWalk::keep_for(JobId id, const Job& job) {
  if (!kept_.empty() && kept_.back().job == id) return;
  kept_types_ |= job.gpu_types;
  kept_.push_back({id, job.gpu_types});
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
  const JobId id = units_[moved.unit].job;
  Change& change = change_of(id);
  std::erase(change.staying, moved.replica);
  change.leaving.push_back(moved.replica);
  free_.give_back(replicas_of(view_.job(id), 1), places_of_replica(view_, id, moved.replica));
}

void ReplicaWalk::stay(const Moved& moved) {
  const JobId id = units_[moved.unit].job;
  Change& change = change_of(id);
  std::erase(change.leaving, moved.replica);
  change.staying.push_back(moved.replica);
  free_.hold(replicas_of(view_.job(id), 1), places_of_replica(view_, id, moved.replica));
}

GpuTypeMask ReplicaWalk::types_held(JobId id) const {
  GpuTypeMask types = 0;
  for (const Placement& place : view_.placements_of(id)) {
    if (!place.device.valid()) continue;
    types |= GpuTypeMask{1} << view_.cluster->devices[place.device.index()].type.value;
  }
  return types;
}

// Whether what is free and what replicas after this one hold that may leave, or all of them, is as
// much as it asks for: a count is cheap, and seldom wrong.
bool ReplicaWalk::enough(const Job& replica, bool all) const {
  std::int64_t milli = free_.free_milli(replica.gpu_types);
  for (std::size_t r = runners_.size(); r > 0 && milli < replica.gpu_milli(); --r) {
    const Unit& unit = units_[runners_[r - 1]];
    if (runners_[r - 1] < next_) break;
    if (!unit.runs || !(all || unit.may_leave)) continue;
    if ((types_held(unit.job) & replica.gpu_types) == 0) continue;
    const Job& job = view_.job(unit.job);
    milli += static_cast<std::int64_t>(job.partitions()) * job.gpu_milli_per_task;
  }
  return milli >= replica.gpu_milli();
}

bool ReplicaWalk::make_room(const Unit& unit, const Job& replica) {
  if (runners_.empty() || runners_.back() < next_) return false;
  if (!enough(replica, false)) {
    if (enough(replica, true)) keep_for(unit.job, view_.job(unit.job));
    return false;
  }
  moved_.clear();
  for (std::size_t r = runners_.size(); r > 0 && runners_[r - 1] > next_; --r) {
    if (free_.fits(replica)) break;
    const Unit& last = units_[runners_[r - 1]];
    if (!last.runs || !last.may_leave) continue;
    if ((types_held(last.job) & replica.gpu_types) == 0) continue;
    moved_.push_back({runners_[r - 1], loneliest(last.job, change_of(last.job))});
    leave(moved_.back());
  }
  const bool fits = free_.fits(replica);
  // Not all of them are in the way: the first in the order stay if there is room without them.
  for (std::size_t m = moved_.size(); m > 0; --m) {
    const Moved& moved = moved_[m - 1];
    stay(moved);
    if (!fits || free_.fits(replica)) continue;
    leave(moved);
    units_[moved.unit].runs = false;
    change_of(units_[moved.unit].job).displaced_by = unit.job;
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
