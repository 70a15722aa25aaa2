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
  PackingHosts(const ClusterView& view, FreeIndex& free) : view_(view), free_(free) {}

  // This job runs and stays.
  void add(JobId id);
  // All were added.
  void sort();
  // Whether a job of this width and share may find room: cheap, and may be wrong about memory.
  [[nodiscard]] bool may_fit(const Job& job) const;
  // Takes places beside the job with the same number of GPUs whose devices are the least used, but
  // where the job ran last beside the same one; false if none has room.
  [[nodiscard]] bool take(JobId id, std::vector<Placement>& places);

 private:
  struct Host {
    JobId id;
    std::uint32_t room_milli = 0;  // on its fullest device; may be less by now
  };

  [[nodiscard]] std::uint32_t room_milli(JobId host) const;
  [[nodiscard]] bool has_room(JobId host, const Job& job) const;
  [[nodiscard]] bool was_beside(JobId id, JobId host) const;

  const ClusterView& view_;
  FreeIndex& free_;
  std::map<std::uint32_t, std::vector<Host>> by_width_;  // by number of GPUs; most room first
};

}  // namespace berth
