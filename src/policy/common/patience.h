// How long a job may wait without a break before it goes before all others, and how much of the
// cluster such jobs may take together: under overload everybody waits for long, and an order must
// still mean something.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "place/free_index.h"
#include "policy/common/options.h"
#include "policy/common/replicas.h"

namespace berth {

class Patience {
 public:
  // 0 hours: without a limit. `share`: of the GPUs.
  Patience(double hours, double share)
      : limit_us_(hours > 0 ? us_of(hours, kUsPerHour) : kNever), share_(share) {}

  [[nodiscard]] bool has_limit() const { return limit_us_ < kNever; }
  [[nodiscard]] TimeUs limit_us() const { return limit_us_; }
  [[nodiscard]] bool is_over(TimeUs waited_us) const {
    return has_limit() && waited_us >= limit_us_;
  }
  // Of a job that runs: whether it had waited for so long when it started.
  [[nodiscard]] bool was_over(const ClusterView& view, JobId id) const {
    const JobState& state = view.state(id);
    return is_over(state.last_start_us - waits_since(view.job(id), state));
  }
  // What such jobs may take together; one of them in any case, whatever it takes.
  [[nodiscard]] std::int64_t most_milli(const FreeIndex& free) const {
    return static_cast<std::int64_t>(share_ *
                                     static_cast<double>(free.capacity_milli(kAnyGpuType)));
  }

  // Of the waiting ones those that may go before the others, the longest wait first. Both are
  // called with a visitor of ids; `milli_of` is what such a job takes.
  template <class Running, class Waiting, class MilliOf>
  [[nodiscard]] std::vector<JobId> privileged(const ClusterView& view, const FreeIndex& free,
                                              Running for_each_running, Waiting for_each_waiting,
                                              MilliOf milli_of) const {
    std::vector<JobId> out;
    if (!has_limit()) return out;
    std::int64_t milli = 0;
    for_each_running([&](JobId id) {
      if (was_over(view, id)) milli += milli_of(id);
    });
    std::vector<std::pair<TimeUs, JobId>> patient;
    for_each_waiting([&](JobId id) {
      const TimeUs since_us = waits_since(view.job(id), view.state(id));
      if (is_over(view.now_us - since_us)) patient.emplace_back(since_us, id);
    });
    std::sort(patient.begin(), patient.end());
    for (const auto& [since_us, id] : patient) {
      const bool first = milli == 0;
      milli += milli_of(id);
      if (milli > most_milli(free) && !first) break;
      out.push_back(id);
    }
    return out;
  }

 private:
  TimeUs limit_us_;
  double share_;
};

}  // namespace berth
