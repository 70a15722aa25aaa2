// Who shares devices with whom, and what that brings: measured, not foreseen (Xiao et al., OSDI
// 2018, introspective mode, packing).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/id_set.h"
#include "model/view.h"

namespace berth {

class Tenants {
 public:
  // Of the running jobs.
  Tenants(const ClusterView& view, const IdSet& running);

  // Jobs that share a device with one that started before them, by JobId.
  [[nodiscard]] std::span<const JobId> guests() const { return guests_; }
  // The others on the job's devices, by JobId.
  [[nodiscard]] std::vector<JobId> partners(JobId id) const;
  // What a guest brings, in GPUs' worth of work: its own speed on all its GPUs, less what its
  // partners lose on all of theirs. Time slicing would bring nothing: the devices were in use.
  // Nothing while one of them loads or does not report.
  [[nodiscard]] std::optional<double> gain(JobId guest) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Tenant {
    JobId job;
    std::uint32_t next = kNone;  // on the same device
  };

  void note(JobId id, DeviceId device);
  void note_guests_of(std::uint32_t first);
  template <class Visit>
  void for_each_on(DeviceId device, Visit visit) const {
    for (std::uint32_t t = first_[device.index()]; t != kNone; t = tenants_[t].next) {
      visit(tenants_[t].job);
    }
  }

  const ClusterView& view_;
  std::vector<std::uint32_t>
      first_;                        // by device, if it is shared: in tenants_, by JobId from there
  std::vector<std::uint32_t> last_;  // by device
  std::vector<Tenant> tenants_;
  std::vector<JobId> guests_;
};

}  // namespace berth
