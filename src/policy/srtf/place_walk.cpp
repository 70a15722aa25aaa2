#include "policy/srtf/place_walk.h"

#include <limits>

namespace berth {

PlaceWalk::PlaceWalk(const ClusterView& view, SrtfPool& pool, FreeIndex& free)
    : view_(view), free_(free) {
  pool.running().for_each([&](const OrderedBlocks::Entry& entry) {
    Runner runner{.entry = entry};
    for (const Placement& place : view_.placements_of(JobId{entry.id})) {
      if (!place.device.valid()) continue;
      runner.types |= GpuTypeMask{1} << view_.cluster->devices[place.device.index()].type.value;
    }
    runners_.push_back(runner);
  });
  walk(pool);
  for (const Runner& runner : runners_) {
    if (runner.holds) continue;
    stops_.push_back({JobId{runner.entry.id}, runner.displaced_by, runner.goes_on});
  }
  for (const Start& start : starts_) pool.remove(start.job);
}

void PlaceWalk::walk(SrtfPool& pool) {
  // The next job of each class of waiting jobs; none once one of the class was passed over, as
  // room only shrinks along the order.
  std::vector<const OrderedBlocks::Entry*> heads;
  std::size_t open = 0;
  for (auto& [shape, waiting] : pool.waiting_classes()) {
    heads.push_back(waiting.at_or_after(std::numeric_limits<std::int64_t>::min(), 0));
    if (heads.back() != nullptr) ++open;
  }
  while (open > 0 || displaced_ > 0) {
    std::size_t best = heads.size();
    for (std::size_t c = 0; c < heads.size(); ++c) {
      if (heads[c] != nullptr && (best == heads.size() || *heads[c] < *heads[best])) best = c;
    }
    if (best == heads.size() ||
        (next_ < runners_.size() &&
         runners_[next_].entry <
             OrderedBlocks::Entry{view_.now_us + heads[best]->key, heads[best]->id, 0})) {
      visit_runner();
      continue;
    }
    const OrderedBlocks::Entry head = *heads[best];
    heads[best] = start(JobId{head.id})
                      ? pool.waiting_classes()[best].jobs.at_or_after(head.key, head.id + 1)
                      : nullptr;
    if (heads[best] == nullptr) --open;
  }
}

void PlaceWalk::visit_runner() {
  Runner& runner = runners_[next_++];
  if (runner.holds) return;
  --displaced_;
  runner.goes_on = start(JobId{runner.entry.id});
}

bool PlaceWalk::start(JobId id) {
  const Job& job = view_.job(id);
  std::vector<Placement> places;
  if (!free_.fits(job) && !make_room(job, id)) return false;
  if (!free_.take(job, places)) return false;
  starts_.push_back({id, std::move(places)});
  return true;
}

// Whether a count of free devices and of those of later runners allows it: cheap, and seldom wrong.
bool PlaceWalk::enough_behind(const Job& job) const {
  std::int64_t milli = free_.free_milli(job.gpu_types);
  for (std::size_t r = next_; r < runners_.size() && milli < job.gpu_milli(); ++r) {
    if (runners_[r].holds && (runners_[r].types & job.gpu_types) != 0) {
      milli += runners_[r].entry.weight;
    }
  }
  return milli >= job.gpu_milli();
}

bool PlaceWalk::make_room(const Job& job, JobId id) {
  if (!enough_behind(job)) return false;
  const auto leave = [&](std::size_t r) {
    const JobId runner{runners_[r].entry.id};
    free_.give_back(view_.job(runner), view_.placements_of(runner));
  };
  const auto stay = [&](std::size_t r) {
    const JobId runner{runners_[r].entry.id};
    free_.hold(view_.job(runner), view_.placements_of(runner));
  };
  moved_.clear();
  for (std::size_t r = runners_.size(); r > next_ && !free_.fits(job); --r) {
    if (!runners_[r - 1].holds || (runners_[r - 1].types & job.gpu_types) == 0) continue;
    leave(r - 1);
    moved_.push_back(r - 1);
  }
  const bool enough = free_.fits(job);
  // Not all of them are in the way: the first in the order stay if there is room without them.
  for (std::size_t m = moved_.size(); m > 0; --m) {
    Runner& runner = runners_[moved_[m - 1]];
    stay(moved_[m - 1]);
    if (!enough || free_.fits(job)) continue;
    leave(moved_[m - 1]);
    runner.holds = false;
    runner.displaced_by = id;
    ++displaced_;
  }
  return enough;
}

}  // namespace berth
