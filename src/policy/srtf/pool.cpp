#include "policy/srtf/pool.h"

#include <limits>

namespace berth {

SrtfPool::Filed& SrtfPool::file(JobId id, const Job& job, bool runs) {
  if (filed_.size() <= id.index()) filed_.resize(id.index() + 1);
  Filed& filed = filed_[id.index()];
  filed = {.runs = runs, .particular = particular(job)};
  if (filed.particular) ++particular_;
  return filed;
}

void SrtfPool::add_running(JobId id, const Job& job, TimeUs end_us) {
  file(id, job, true).end_us = end_us;
  running_.insert({end_us, id.value, static_cast<std::int32_t>(job.gpu_milli())});
}

void SrtfPool::add_waiting(JobId id, const Job& job, TimeUs remaining_us) {
  file(id, job, false);
  waiting_.insert(id, job, remaining_us);
}

void SrtfPool::remove(JobId id) {
  if (id.index() >= filed_.size()) return;
  Filed& filed = filed_[id.index()];
  if (filed.runs) {
    running_.erase(filed.end_us, id.value);
  } else {
    waiting_.erase(id);
  }
  if (filed.particular) --particular_;
  filed = {};
}

// The first waiting job, from that place in the order on, for which there is room beside all
// selected jobs that go before it. What goes before only grows along the order, so of each class
// only the first is looked at.
const OrderedBlocks::Entry* SrtfPool::first_fitting(TimeUs now_us, std::int64_t from_key,
                                                    std::uint32_t from_id) {
  const OrderedBlocks::Entry* best = nullptr;
  for (const auto& [shape, waiting] : waiting_.classes()) {
    const auto* entry = waiting.at_or_after(from_key, from_id);
    if (entry == nullptr || (best != nullptr && *best < *entry)) continue;
    const std::int64_t before = running_.weight_before(now_us + entry->key, entry->id);
    if (before + shape.gpu_milli() <= capacity_milli_) best = entry;
  }
  return best;
}

void SrtfPool::select(TimeUs now_us, std::span<const Job> jobs, std::vector<Switch>& switches) {
  std::int64_t from_key = std::numeric_limits<std::int64_t>::min();
  std::uint32_t from_id = 0;
  JobId last_started;
  while (true) {
    const auto* enters = !waiting_.empty() ? first_fitting(now_us, from_key, from_id) : nullptr;
    const auto* leaves = running_.total_weight() > capacity_milli_
                             ? running_.first_reaching(capacity_milli_ + 1)
                             : nullptr;
    if (enters == nullptr && leaves == nullptr) return;
    const bool enter_first =
        enters != nullptr &&
        (leaves == nullptr || OrderedBlocks::Entry{now_us + enters->key, enters->id, 0} < *leaves);
    const JobId id{enter_first ? enters->id : leaves->id};
    const Job& job = jobs[id.index()];
    from_key = enter_first ? enters->key : leaves->key - now_us;
    from_id = id.value;
    remove(id);
    if (enter_first) {
      add_running(id, job, now_us + from_key);
      last_started = id;
    } else {
      add_waiting(id, job, from_key);
    }
    switches.push_back({id, enter_first, enter_first ? JobId{} : last_started});
    ++from_id;  // on to what comes after it
  }
}

}  // namespace berth
