// Which jobs of one pool of devices should run, by what remains of each: kept up to date instead of
// sorted anew at each event.
//
// The rule: go through all jobs, running and waiting, by remaining time (ties by JobId), and select
// each that still fits. Between events nothing changes: a running job only moves ahead of waiting
// ones, which does not make room for any. So after an event it is enough to look for the first
// waiting job that now fits, and then for the first running one that no longer does, and so on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ordered_blocks.h"
#include "base/time.h"
#include "model/job.h"
#include "policy/common/waiting_jobs.h"

namespace berth {

class SrtfPool {
 public:
  struct Switch {
    JobId job;
    bool start = false;  // else: stop
    JobId displaced_by;  // of a job that stops
  };

  // Of its devices, used or not.
  void set_capacity(std::int64_t milli) { capacity_milli_ = milli; }
  // Which GPU types are in the pool; while it is empty.
  void set_types(GpuTypeMask types) { types_ = types; }
  // Whether a count of devices tells what fits: every job takes whole devices of any of its types.
  [[nodiscard]] bool counts_suffice() const { return particular_ == 0; }
  [[nodiscard]] bool anyone_waits() const { return !waiting_.empty(); }
  [[nodiscard]] bool waits(JobId id) const { return waiting_.contains(id); }

  // A job that runs and, left alone, has nothing remaining at `end_us`.
  void add_running(JobId id, const Job& job, TimeUs end_us);
  void add_waiting(JobId id, const Job& job, TimeUs remaining_us);
  void remove(JobId id);

  // In order; the key is the end.
  [[nodiscard]] const OrderedBlocks& running() const { return running_; }
  // The key is what remains.
  [[nodiscard]] const WaitingJobs& waiting() const { return waiting_; }

  // If counts suffice: selects by the rule above, appends who must start or stop, and takes them as
  // done. `jobs`: by JobId.
  void select(TimeUs now_us, std::span<const Job> jobs, std::vector<Switch>& switches);

 private:
  struct Filed {
    bool runs = false;
    bool particular = false;
    TimeUs end_us = 0;  // of one that runs
  };

  Filed& file(JobId id, const Job& job, bool runs);

  [[nodiscard]] const OrderedBlocks::Entry* first_fitting(TimeUs now_us, std::int64_t from_key,
                                                          std::uint32_t from_id);

  [[nodiscard]] bool particular(const Job& job) const {
    return job.gpu_milli_per_task % kWholeGpuMilli != 0 || job.gpu_memory_mib_per_task != 0 ||
           (job.gpu_types & types_) != types_;
  }

  std::int64_t capacity_milli_ = 0;
  GpuTypeMask types_ = 0;
  std::size_t particular_ = 0;  // jobs that keep counts from sufficing
  OrderedBlocks running_;       // key: end; weight: thousandths
  WaitingJobs waiting_;         // key: remaining
  std::vector<Filed> filed_;    // by JobId
};

}  // namespace berth
