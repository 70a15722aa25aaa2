// Places on devices that nobody uses: for policies that let jobs share a device by their own rule
// and never by chance. A task takes its share all the same; what is left of the device stays free.
#pragma once

#include <vector>

#include "place/free_index.h"
#include "place/placer.h"

namespace berth {

// Whether the job has more tasks than there are devices that it can use (on servers that are up):
// then its tasks take shares like any, for it would never run else.
[[nodiscard]] bool must_share_with_itself(const FreeIndex& free, const Job& job);
// Whether there is an empty device for each task.
[[nodiscard]] bool fits_empty(const FreeIndex& free, const Job& job);
// Takes them on as few servers as possible, like FreeIndex::take(). False, and nothing taken, if
// there are too few.
[[nodiscard]] bool take_empty(FreeIndex& free, const Job& job, std::vector<Placement>& places);

// The same on this server, which must have as many.
void take_empty_on(FreeIndex& free, const Job& job, const Cluster& cluster, ServerId server,
                   std::vector<Placement>& places);

// A placer that counts devices: who has a share of one keeps others from it all the same.
class EmptyDevicesPlacer : public Placer {
 public:
  explicit EmptyDevicesPlacer(FreeIndex& free) : free_(free) {}

  [[nodiscard]] std::int64_t held_milli(const Job& job) const final {
    return job.gpu_milli_per_task == 0 ? 0 : job.workers() * kWholeGpuMilli;
  }
  [[nodiscard]] std::int64_t asked_milli(const Job& job) const final {
    return must_share_with_itself(free_, job) ? 0 : held_milli(job);
  }
  [[nodiscard]] bool counts_whole_devices() const final { return true; }
  [[nodiscard]] DeviceDemand device_demand(const Job& /*job*/) const final {
    return {.alone = true};
  }
  [[nodiscard]] std::int64_t free_milli(GpuTypeMask types) const final {
    return free_.whole_free_milli(types);
  }

 protected:
  FreeIndex& free_;
};

}  // namespace berth
