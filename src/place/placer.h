// How a policy finds places for a job where it does not want FreeIndex's own way. Takes them from
// an index that it shares with whoever asks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/view.h"

namespace berth {

// What a task needs of a device, cores and main memory apart.
struct DeviceDemand {
  std::uint32_t milli = 0;
  std::uint32_t mib = 0;
  std::uint32_t kept_milli = 0;  // of each device, for nobody
  bool alone = false;            // each task has an empty device

  // How many such tasks a device takes that has so much free.
  [[nodiscard]] std::int64_t tasks_on(std::int64_t free_milli, std::int64_t free_mib) const {
    if (alone) return free_milli == kWholeGpuMilli && free_mib >= mib ? 1 : 0;
    if (free_milli < std::int64_t{milli} + kept_milli || free_mib < mib) return 0;
    const auto by_share = static_cast<std::uint32_t>(free_milli - kept_milli) / milli;
    if (std::int64_t{by_share} * mib <= free_mib) return by_share;
    return free_mib / mib;
  }
};

class Placer {
 public:
  Placer() = default;
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;
  virtual ~Placer() = default;

  // What the job holds while it runs, in thousandths of GPUs as this counts them: at most so much
  // comes free for others when it leaves. By what it declares alone.
  [[nodiscard]] virtual std::int64_t held_milli(const Job& job) const = 0;
  // What the job asks for in thousandths of GPUs as this counts them, and how many are free: a job
  // for which too few are free does not fit, even with what those hold that would leave for it.
  [[nodiscard]] virtual std::int64_t asked_milli(const Job& job) const = 0;
  [[nodiscard]] virtual std::int64_t free_milli(GpuTypeMask types) const = 0;
  // Whether that is a count of whole devices: one that several jobs share comes free only with the
  // last of them.
  [[nodiscard]] virtual bool counts_whole_devices() const { return false; }
  // Whether fits() goes by the demand of such a job and by what is free alone, so that whoever asks
  // for as much, cores and memory too, does not fit where this one does not.
  [[nodiscard]] virtual bool fits_by_demand(const Job& /*job*/) const { return false; }
  // What a task of such a job, or of one for which devices are counted, needs of a device.
  [[nodiscard]] virtual DeviceDemand device_demand(const Job& job) const = 0;
  // Whether there is room for all tasks of the job. Where running jobs may have to leave for it,
  // this must be exact; else it may be true too often.
  [[nodiscard]] virtual bool fits(const Job& job) const = 0;
  // Places all its tasks, in their order, and takes the places; false, and nothing taken, if they
  // do not fit.
  [[nodiscard]] virtual bool take(JobId id, const Job& job, std::vector<Placement>& places) = 0;
};

}  // namespace berth
