// How a policy finds places for a job where it does not want FreeIndex's own way. Takes them from
// an index that it shares with whoever asks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/view.h"

namespace berth {

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
  // How many tasks of such a job a device takes that has so much free, cores and main memory apart.
  [[nodiscard]] virtual std::int64_t tasks_on_device(const Job& job, std::int64_t free_milli,
                                                     std::int64_t free_mib) const = 0;
  // Whether there is room for all tasks of the job. Where running jobs may have to leave for it,
  // this must be exact; else it may be true too often.
  [[nodiscard]] virtual bool fits(const Job& job) const = 0;
  // Places all its tasks, in their order, and takes the places; false, and nothing taken, if they
  // do not fit.
  [[nodiscard]] virtual bool take(JobId id, const Job& job, std::vector<Placement>& places) = 0;
};

}  // namespace berth
