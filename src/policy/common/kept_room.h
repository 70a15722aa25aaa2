// What is free but not for everybody.
#pragma once

#include <span>
#include <vector>

#include "model/job.h"

namespace berth {

// What is free of some GPU types is kept for this job.
struct KeptRoom {
  JobId job;
  GpuTypeMask types = 0;
};

// All that is kept while a walk goes on.
class KeptRooms {
 public:
  void keep_for(JobId id, const Job& job) {
    if (!rooms_.empty() && rooms_.back().job == id) return;
    types_ |= job.gpu_types;
    rooms_.push_back({id, job.gpu_types});
  }
  // Whether this job may not take what is free.
  [[nodiscard]] bool bar(const Job& job) const {
    return (job.gpu_types & types_) != 0 && job.gpu_milli_per_task > 0;
  }
  [[nodiscard]] const std::vector<KeptRoom>& all() const { return rooms_; }

 private:
  std::vector<KeptRoom> rooms_;
  GpuTypeMask types_ = 0;
};

}  // namespace berth
