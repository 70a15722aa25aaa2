#include "policy/common/place_walk.h"

#include <algorithm>
#include <limits>

#include "policy/common/replicas.h"

namespace berth {
namespace {

constexpr PlaceWalk::Key kFirst = std::numeric_limits<PlaceWalk::Key>::min();

}  // namespace

TimeUs least_run_us(const JobState& state, TimeUs least_us) {
  constexpr std::uint32_t kMostDoublings = 24;
  const std::uint32_t doublings = std::min(kMostDoublings, state.preemptions / kPatientPreemptions);
  return doublings == 0 ? least_us : std::max(least_us, kUsPerS) << doublings;
}

PlaceWalk::PlaceWalk(const ClusterView& view, FreeIndex& free, const Running& running,
                     const WaitingJobs& waiting, const Rules& rules)
    : view_(view),
      free_(free),
      ask_running_(running),
      waiting_(waiting),
      rules_(rules),
      refused_(rules.placer != nullptr && !rules.placer->counts_whole_devices()
                   ? RefusedDemands::Host::kEverybody
                   : RefusedDemands::Host::kShares) {
  for (const JobId id : rules_.privileged) {
    if (!start(id, kFirst)) kept_.keep_for(id, view_.job(id));
  }
  walk();
  if (rules_.widest_first) place_widest_first();
  for (const Runner& runner : runners_) {
    if (runner.holds) continue;
    stops_.push_back({JobId{runner.entry.id}, runner.displaced_by, runner.goes_on});
  }
}

bool PlaceWalk::fits(const Job& job) const {
  return rules_.placer != nullptr ? rules_.placer->fits(job) : free_.fits(job);
}

std::int64_t PlaceWalk::asked_milli(const Job& job) const {
  return rules_.placer != nullptr ? rules_.placer->asked_milli(job) : job.gpu_milli();
}

std::int64_t PlaceWalk::free_milli(GpuTypeMask types) const {
  return rules_.placer != nullptr ? rules_.placer->free_milli(types) : free_.free_milli(types);
}

// Whether the placer counts, and gives it, whole devices.
bool PlaceWalk::needs_whole_devices(const Job& job) const {
  return rules_.placer != nullptr && rules_.placer->counts_whole_devices() && asked_milli(job) > 0;
}

bool PlaceWalk::take(JobId id, const Job& job, std::vector<Placement>& places) {
  return rules_.placer != nullptr ? rules_.placer->take(id, job, places) : free_.take(job, places);
}

void PlaceWalk::walk() {
  list_heads();
  // A long queue is looked through for those that are refused anyway, after twice as many each
  // time.
  constexpr std::size_t kFirstLook = 64;
  std::size_t visited = 0;
  std::size_t look_at = kFirstLook;
  while (!heads_.empty() || displaced_ > 0) {
    // Running jobs are visited in their turn if one of them has lost its places.
    if (heads_.empty() || (displaced_ > 0 && next_ < runners_.size() &&
                           runners_[next_].entry < heads_.front().entry)) {
      visit_runner();
      continue;
    }
    visit_head();
    if (++visited < look_at) continue;
    drop_refused_heads();
    look_at *= 2;
  }
}

void PlaceWalk::list_heads() {
  for (std::size_t c = 0; c < waiting_.classes().size(); ++c) {
    const auto& [shape, jobs] = waiting_.classes()[c];
    if (jobs.empty()) continue;
    if (!rules_.preempts && !fits(shape)) continue;
    const OrderedBlocks::Entry& first = jobs.front();
    heads_.push_back({{first.key + rules_.waiting_offset, first.id, 0}, c});
  }
  std::make_heap(heads_.begin(), heads_.end());
}

void PlaceWalk::visit_head() {
  std::pop_heap(heads_.begin(), heads_.end());
  const Head head = heads_.back();
  heads_.pop_back();
  const JobId id{head.entry.id};
  if (!privileged_started(id) && !start(id, head.entry.key)) return;
  const OrderedBlocks& jobs = waiting_.classes()[head.job_class].jobs;
  const auto* next = jobs.at_or_after(head.entry.key - rules_.waiting_offset, head.entry.id + 1);
  if (next == nullptr) return;
  heads_.push_back({{next->key + rules_.waiting_offset, next->id, 0}, head.job_class});
  std::push_heap(heads_.begin(), heads_.end());
}

// Those that visit_head() would pass over whenever their turn comes, and without any effect.
void PlaceWalk::drop_refused_heads() {
  if (rules_.placer == nullptr || runners_.empty() || !rules_.privileged.empty()) return;
  const auto dropped = std::erase_if(heads_, [&](const Head& head) {
    const Job& job = waiting_.classes()[head.job_class].shape;
    return short_of_devices_.contains(job) && keeps_nothing(job, head.entry) &&
           rules_.placer->fits_by_demand(job);
  });
  if (dropped > 0) std::make_heap(heads_.begin(), heads_.end());
}

// Whether nothing will be kept for the job in its turn: nobody after it is there who may not leave,
// or too little is held even with those.
bool PlaceWalk::keeps_nothing(const Job& job, const OrderedBlocks::Entry& at) const {
  if (!rules_.keeps) return true;
  const auto after = std::upper_bound(
      runners_.begin(), runners_.end(), at,
      [](const OrderedBlocks::Entry& entry, const Runner& runner) { return entry < runner.entry; });
  const Held& held = held_from_[static_cast<std::size_t>(after - runners_.begin())];
  return held.milli == held.may_leave_milli ||
         free_milli(job.gpu_types) + held.milli < asked_milli(job);
}

void PlaceWalk::place_widest_first() {
  if (starts_.size() < 2) return;
  std::vector<Start*> order;
  for (Start& start : starts_) {
    free_.give_back(view_.job(start.job), start.places);
    order.push_back(&start);
  }
  std::stable_sort(order.begin(), order.end(), [&](const Start* a, const Start* b) {
    return view_.job(a->job).workers() > view_.job(b->job).workers();
  });
  std::vector<std::vector<Placement>> places(order.size());
  std::size_t placed = 0;
  while (placed < order.size() &&
         take(order[placed]->job, view_.job(order[placed]->job), places[placed])) {
    ++placed;
  }
  if (placed == order.size()) {
    for (std::size_t i = 0; i < placed; ++i) order[i]->places = std::move(places[i]);
    return;
  }
  // What fits in one order need not fit in another.
  for (std::size_t i = 0; i < placed; ++i) free_.give_back(view_.job(order[i]->job), places[i]);
  for (const Start& start : starts_) free_.hold(view_.job(start.job), start.places);
}

bool PlaceWalk::privileged_started(JobId id) const {
  return std::ranges::find(rules_.privileged, id) != rules_.privileged.end() &&
         std::ranges::any_of(starts_, [&](const Start& start) { return start.job == id; });
}

void PlaceWalk::list_runners() {
  running_->for_each([&](const OrderedBlocks::Entry& entry) {
    Runner runner{.entry = entry};
    const JobId id{entry.id};
    const JobState& state = view_.state(id);
    runner.may_leave =
        view_.now_us - state.last_start_us >= least_run_us(state, rules_.least_run_us);
    runner.types = types_held(view_, id);
    types_held_ |= runner.types;
    runners_.push_back(runner);
  });
  sum_runners();
}

void PlaceWalk::sum_runners() {
  held_from_.resize(runners_.size() + 1);
  for (std::size_t r = runners_.size(); r > 0; --r) {
    const Runner& runner = runners_[r - 1];
    Held held = held_from_[r];
    if (runner.holds && runner.types != 0) {
      held.milli += runner.entry.weight;
      if (runner.may_leave) held.may_leave_milli += runner.entry.weight;
    }
    held_from_[r - 1] = held;
  }
}

void PlaceWalk::visit_runner() {
  Runner& runner = runners_[next_++];
  if (runner.holds) return;
  --displaced_;
  runner.goes_on = start(JobId{runner.entry.id}, runner.entry.key);
}

bool PlaceWalk::start(JobId id, Key key) {
  const Job& job = view_.job(id);
  if (kept_.bar(job)) return false;
  std::vector<Placement> places;
  if (!find_room(job, id, key)) return false;
  // Room in all may still be of no use to a gang.
  if (!take(id, job, places)) return false;
  starts_.push_back({id, std::move(places)});
  return true;
}

// Room shrinks along the order: who asks a placer for as much as somebody before it got no room for
// need not look. Most find too few devices, whatever is left of cores and memory: so much less need
// be compared with what they asked for.
bool PlaceWalk::find_room(const Job& job, JobId id, Key key) {
  if (needs_whole_devices(job)) return find_whole_devices(job, id, key);
  const bool by_demand = rules_.placer != nullptr && rules_.placer->fits_by_demand(job);
  // Who runs is listed once somebody has found no room; then devices are counted first.
  const bool counted = by_demand && !runners_.empty();
  const bool refused = by_demand && (short_of_devices_.contains(job) || refused_.contains(job) ||
                                     (counted && !enough_devices_from(first_after(key, id), job)));
  if (!refused && fits(job)) return true;
  if (refused && !rules_.keeps) return false;
  if (!others_hold_enough(job, id, key) || refused) return false;
  if (by_demand && !counted && !enough_devices_from(first_after(key, id), job)) return false;
  if (make_room(job, id, key)) return true;
  if (by_demand) refused_.add(job);
  return false;
}

bool PlaceWalk::find_whole_devices(const Job& job, JobId id, Key key) {
  if (fits(job)) return true;
  Job counted = job;
  counted.gpu_milli_per_task = kWholeGpuMilli;
  if (refused_.contains(counted)) return false;
  if (others_hold_enough(job, id, key) && enough_devices_from(first_after(key, id), job) &&
      make_room(job, id, key)) {
    return true;
  }
  refused_.add(counted);
  return false;
}

// The walk asks in order.
std::size_t PlaceWalk::first_after(Key key, JobId id) {
  const OrderedBlocks::Entry own{key, id.value, 0};
  while (after_ < runners_.size() && !(own < runners_[after_].entry)) ++after_;
  return after_;
}

// Whether what is free and what runners from `first` on hold that may leave, or all of them, is as
// much as the job asks for: a count of devices is cheap, and seldom wrong.
bool PlaceWalk::enough_from(std::size_t first, bool all, const Job& job) const {
  const std::int64_t asked = asked_milli(job);
  std::int64_t milli = free_milli(job.gpu_types);
  const Held& held = held_from_[first];
  if (milli + (all ? held.milli : held.may_leave_milli) < asked) return false;
  if ((types_held_ & ~job.gpu_types) == 0) return true;
  for (std::size_t r = first; r < runners_.size() && milli < asked; ++r) {
    const Runner& runner = runners_[r];
    if (runner.holds && (all || runner.may_leave) && (runner.types & job.gpu_types) != 0) {
      milli += runner.entry.weight;
    }
  }
  return milli >= asked;
}

// Whether the placer would find devices for it if all of those left, cores and main memory apart:
// what a device holds in parts is of no use to a task that asks for more, and a device that several
// share is empty only when all of them have left. Most that find no room are turned away here.
bool PlaceWalk::enough_devices_from(std::size_t first, const Job& job) {
  const GpuTypeMask types = usable_types(*view_.cluster, job);
  const DeviceDemand demand = rules_.placer->device_demand(job);
  const auto tasks_on = [&](DeviceId device, const Regained& regained) {
    return demand.tasks_on(free_.free_milli_of(device) + regained.milli,
                           free_.free_mib_of(device) + regained.mib);
  };
  std::int64_t tasks = 0;
  free_.for_each_device(types, job.gpu_milli_per_task, [&](DeviceId device) {
    tasks += tasks_on(device, {});
    return tasks < job.workers();
  });
  regained_.resize(view_.devices.size());
  for (std::size_t r = runners_.size(); r > first && tasks < job.workers(); --r) {
    const Runner& runner = runners_[r - 1];
    if (!runner.holds || !runner.may_leave || (runner.types & types) == 0) continue;
    const JobId id{runner.entry.id};
    const Job& other = view_.job(id);
    for (const Placement& place : view_.placements_of(id)) {
      if (!place.device.valid()) continue;
      const std::uint32_t type = view_.cluster->devices[place.device.index()].type.value;
      if ((types >> type & 1U) == 0) continue;
      Regained& regained = regained_[place.device.index()];
      if (regained.milli == 0) gets_back_.push_back(place.device);
      tasks -= tasks_on(place.device, regained);
      regained.milli += other.gpu_milli_per_task;
      regained.mib += other.gpu_memory_mib_per_task;
      tasks += tasks_on(place.device, regained);
    }
  }
  for (const DeviceId device : gets_back_) regained_[device.index()] = {};
  gets_back_.clear();
  if (tasks >= job.workers()) return true;
  short_of_devices_.add(job, static_cast<std::uint32_t>(tasks) + 1);
  return false;
}

// Whether those after it that may leave hold enough, by a count of devices; keeps what is free for
// the job if they do but for those that may not.
bool PlaceWalk::others_hold_enough(const Job& job, JobId id, Key key) {
  if (!rules_.preempts || job.gpu_milli_per_task == 0) return false;
  if (running_ == nullptr) running_ = &ask_running_();
  // Most often nobody after it holds enough.
  if (runners_.empty() && free_milli(job.gpu_types) + running_->total_weight() -
                                  running_->weight_before(key, id.value) <
                              asked_milli(job)) {
    return false;
  }
  if (runners_.empty()) list_runners();
  const std::size_t first = first_after(key, id);
  if (enough_from(first, false, job)) return true;
  if (rules_.keeps && enough_from(first, true, job)) kept_.keep_for(id, job);
  return false;
}

bool PlaceWalk::make_room(const Job& job, JobId id, Key key) {
  const std::size_t first = first_after(key, id);
  const auto leave = [&](std::size_t r) {
    const JobId runner{runners_[r].entry.id};
    free_.give_back(view_.job(runner), view_.placements_of(runner));
  };
  const auto stay = [&](std::size_t r) {
    const JobId runner{runners_[r].entry.id};
    free_.hold(view_.job(runner), view_.placements_of(runner));
  };
  moved_.clear();
  bool enough = false;
  for (std::size_t r = runners_.size(); r > first && !enough; --r) {
    const Runner& runner = runners_[r - 1];
    if (!runner.holds || !runner.may_leave || (runner.types & job.gpu_types) == 0) continue;
    leave(r - 1);
    moved_.push_back(r - 1);
    enough = fits(job);
  }
  // Not all of them are in the way: the first in the order stay if there is room without them.
  for (std::size_t m = moved_.size(); m > 0; --m) {
    Runner& runner = runners_[moved_[m - 1]];
    stay(moved_[m - 1]);
    if (!enough || fits(job)) continue;
    leave(moved_[m - 1]);
    runner.holds = false;
    runner.displaced_by = id;
    ++displaced_;
  }
  if (enough) sum_runners();
  return enough;
}

}  // namespace berth
