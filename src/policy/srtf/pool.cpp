#include "policy/srtf/pool.h"

#include <limits>

namespace berth {

void SrtfPool::add_running(JobId id, const Job& job, TimeUs end_us) {
  if (filed_.size() <= id.index()) filed_.resize(id.index() + 1);
  Filed& filed = filed_[id.index()];
  filed = {Filed::Where::kRunning, classes_.class_of(job), end_us};
  if (particular(job)) ++particular_;
  running_.insert({end_us, id.value, static_cast<std::int32_t>(job.gpu_milli())});
}

void SrtfPool::add_waiting(JobId id, const Job& job, TimeUs remaining_us) {
  if (filed_.size() <= id.index()) filed_.resize(id.index() + 1);
  Filed& filed = filed_[id.index()];
  filed = {Filed::Where::kWaiting, classes_.class_of(job), remaining_us};
  classes_[filed.class_index].jobs.insert({remaining_us, id.value, 0});
  if (particular(job)) ++particular_;
  ++waiting_;
}

void SrtfPool::remove(JobId id) {
  if (id.index() >= filed_.size()) return;
  Filed& filed = filed_[id.index()];
  switch (filed.where) {
    case Filed::Where::kNowhere:
      return;
    case Filed::Where::kRunning:
      running_.erase(filed.key, id.value);
      break;
    case Filed::Where::kWaiting:
      classes_[filed.class_index].jobs.erase(filed.key, id.value);
      --waiting_;
      break;
  }
  if (particular(classes_[filed.class_index].shape)) --particular_;
  filed.where = Filed::Where::kNowhere;
}

// The first waiting job, from that place in the order on, for which there is room beside all
// selected jobs that go before it. What goes before only grows along the order, so of each class
// only the first is looked at.
const OrderedBlocks::Entry* SrtfPool::first_fitting(TimeUs now_us, std::int64_t from_key,
                                                    std::uint32_t from_id) {
  const OrderedBlocks::Entry* best = nullptr;
  for (auto& [shape, waiting] : classes_.all()) {
    const auto* entry = waiting.at_or_after(from_key, from_id);
    if (entry == nullptr || (best != nullptr && *best < *entry)) continue;
    const std::int64_t before = running_.weight_before(now_us + entry->key, entry->id);
    if (before + shape.gpu_milli() <= capacity_milli_) best = entry;
  }
  return best;
}

void SrtfPool::select(TimeUs now_us, std::vector<Switch>& switches) {
  std::int64_t from_key = std::numeric_limits<std::int64_t>::min();
  std::uint32_t from_id = 0;
  JobId last_started;
  while (true) {
    const auto* enters = waiting_ > 0 ? first_fitting(now_us, from_key, from_id) : nullptr;
    const auto* leaves = running_.total_weight() > capacity_milli_
                             ? running_.first_reaching(capacity_milli_ + 1)
                             : nullptr;
    if (enters == nullptr && leaves == nullptr) return;
    const bool enter_first =
        enters != nullptr &&
        (leaves == nullptr || OrderedBlocks::Entry{now_us + enters->key, enters->id, 0} < *leaves);
    const JobId id{enter_first ? enters->id : leaves->id};
    const Job shape = classes_[filed_[id.index()].class_index].shape;
    from_key = enter_first ? enters->key : leaves->key - now_us;
    from_id = id.value;
    remove(id);
    if (enter_first) {
      add_running(id, shape, now_us + from_key);
      last_started = id;
    } else {
      add_waiting(id, shape, from_key);
    }
    switches.push_back({id, enter_first, enter_first ? JobId{} : last_started});
    ++from_id;  // on to what comes after it
  }
}

}  // namespace berth
