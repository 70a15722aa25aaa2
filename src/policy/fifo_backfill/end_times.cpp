#include "policy/fifo_backfill/end_times.h"

#include <algorithm>
#include <bit>

namespace berth {

void EndTimes::reset(const Cluster& cluster) {
  by_type_.assign(cluster.gpu_types.size(), {});
  held_.clear();
}

void EndTimes::set(const ClusterView& view, JobId id, std::span<const Placement> places,
                   TimeUs end_us) {
  remove(id);
  if (held_.size() <= id.index()) held_.resize(view.jobs.size());
  const Job& job = view.job(id);
  Held& held = held_[id.index()];
  const auto add = [&](std::size_t type, std::int64_t milli) {
    by_type_[type].insert({end_us, id.value, static_cast<std::int32_t>(milli)});
    held.types |= std::uint64_t{1} << type;
  };
  held.end_us = end_us;
  if (by_type_.size() == 1) {
    if (job.gpu_milli() > 0) add(0, job.gpu_milli());
    return;
  }
  std::vector<std::int64_t> milli(by_type_.size(), 0);
  for (const Placement& place : places) {
    if (!place.device.valid()) continue;
    milli[view.cluster->devices[place.device.index()].type.index()] += job.gpu_milli_per_task;
  }
  for (std::size_t type = 0; type < milli.size(); ++type) {
    if (milli[type] > 0) add(type, milli[type]);
  }
}

void EndTimes::remove(JobId id) {
  if (id.index() >= held_.size()) return;
  Held& held = held_[id.index()];
  for (std::uint64_t types = held.types; types != 0; types &= types - 1) {
    by_type_[static_cast<std::size_t>(std::countr_zero(types))].erase(held.end_us, id.value);
  }
  held = {};
}

JobId EndTimes::overdue(TimeUs now_us) const {
  for (const OrderedBlocks& ends : by_type_) {
    if (!ends.empty() && ends.front().key <= now_us) return JobId{ends.front().id};
  }
  return {};
}

EndTimes::Release EndTimes::when_free(GpuTypeMask types, std::int64_t milli,
                                      std::int64_t free_milli) const {
  std::vector<const OrderedBlocks*> lists;
  for (std::size_t t = 0; t < by_type_.size(); ++t) {
    if ((types >> t & 1U) != 0 && !by_type_[t].empty()) lists.push_back(&by_type_[t]);
  }
  const auto free_by = [&](TimeUs at_us) {
    std::int64_t sum = free_milli;
    for (const OrderedBlocks* ends : lists) sum += ends->weight_before(at_us + 1, 0);
    return sum;
  };
  Release release{kNever, free_milli};
  if (lists.size() == 1) {
    if (const auto* entry = lists[0]->first_reaching(milli - free_milli))
      release.at_us = entry->key;
  } else {
    // The instant is the end of some job: the least end, over the lists, by which enough is free.
    for (const OrderedBlocks* ends : lists) {
      ends->for_each([&](const OrderedBlocks::Entry& entry) {
        if (entry.key < release.at_us && free_by(entry.key) >= milli) release.at_us = entry.key;
      });
    }
  }
  if (release.at_us != kNever) release.milli = free_by(release.at_us);
  return release;
}

}  // namespace berth
