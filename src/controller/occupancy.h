// What processes hold for real. A job that is told to leave holds its devices until its last
// process has ended, whatever the policy's view says: who is to start there waits so long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "controller/slots.h"
#include "model/job.h"
#include "model/view.h"

namespace berth {

class Occupancy {
 public:
  // `slots` must outlive it.
  explicit Occupancy(const Slots& slots, const Cluster& physical);

  // Whether devices and main memory are there for tasks that hold `job`'s amounts.
  [[nodiscard]] bool has_room(const Job& job, std::span<const TaskPlace> places);
  void take(const Job& job, std::span<const TaskPlace> places) { add(job, places, 1); }
  void give(const Job& job, std::span<const TaskPlace> places) { add(job, places, -1); }
  [[nodiscard]] bool is_free(DeviceId device) const { return used_milli_[device.index()] == 0; }

 private:
  void add(const Job& job, std::span<const TaskPlace> places, std::int64_t sign);

  const Slots& slots_;
  std::vector<std::int64_t> used_milli_;  // by DeviceId of the policies' cluster
  std::vector<std::int64_t> memory_mib_;  // by ServerId of the backend's
  std::vector<std::int64_t> used_mib_;    // the same
};

}  // namespace berth
