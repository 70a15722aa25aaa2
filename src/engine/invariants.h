// What must be true of every view, whatever the policy (simulation.md, checks that must hold).
// Checked after every round: always in debug builds, on request (--check) in others.
#pragma once

#include <string>
#include <vector>

#include "model/view.h"

namespace berth {

class InvariantChecker {
 public:
  // `whole_replicas`: replicas are admitted whole or not at all.
  explicit InvariantChecker(bool whole_replicas) : whole_replicas_(whole_replicas) {}

  // Looks at every job that has not ended and every device; time in proportion to them, not to the
  // jobs of the past. Empty if all is right, else the first thing that is wrong.
  [[nodiscard]] std::string check(const ClusterView& view);

 private:
  [[nodiscard]] std::string check_job(const ClusterView& view, JobId id);
  [[nodiscard]] std::string check_replicas(const ClusterView& view, JobId id) const;
  [[nodiscard]] std::string check_place(const ClusterView& view, JobId id, std::uint32_t task);
  // And adds it to what is used there.
  [[nodiscard]] std::string check_place_is_right(const ClusterView& view, JobId id,
                                                 const Placement& place, bool needs_device);
  [[nodiscard]] std::string check_copies(const ClusterView& view);
  [[nodiscard]] std::string check_devices(const ClusterView& view) const;

  bool whole_replicas_;
  TimeUs last_us_ = 0;
  std::size_t seen_ = 0;                  // jobs that were looked at, all that had arrived
  std::vector<JobId> alive_;              // of these, those that had not ended
  std::vector<std::int64_t> used_milli_;  // by DeviceId
  std::vector<std::int64_t> used_mib_;    // by DeviceId
  std::vector<std::uint32_t> tasks_;      // by DeviceId
};

}  // namespace berth
