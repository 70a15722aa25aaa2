// Where a job that waits may run beside another: Gandiva's greedy packing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/id_set.h"
#include "model/view.h"
#include "place/free_index.h"

namespace berth {

// The places of running jobs that have room for another task beside each of theirs.
class PackingHosts {
 public:
  PackingHosts(const ClusterView& view, const FreeIndex& free) : view_(view), free_(free) {}

  // This job runs and stays.
  void add(JobId id);
  [[nodiscard]] bool empty() const { return by_width_.empty(); }
  // Whether a job of this width and share may find room: cheap, and may be wrong about memory.
  [[nodiscard]] bool may_fit(const Job& job) const;
  // Places beside the job with the same number of GPUs whose devices are the least used and have
  // room, but where the job has been taken off before; false if there are none. Takes nothing.
  [[nodiscard]] bool find(JobId id, std::vector<Placement>& places) const;

 private:
  [[nodiscard]] std::uint32_t room_milli(JobId host) const;
  [[nodiscard]] bool has_room(JobId host, const Job& job) const;
  [[nodiscard]] bool was_taken_off(JobId id, JobId host) const;

  const ClusterView& view_;
  const FreeIndex& free_;
  std::map<std::uint32_t, std::vector<JobId>> by_width_;  // by number of GPUs
};

}  // namespace berth
