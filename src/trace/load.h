// How a trace loads a cluster over time, as if every job started when it arrived.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace berth::trace {

struct LoadOverTime {
  TimeUs bin_us = kUsPerHour;           // whole hours, so that there are at most `most_bins`
  std::vector<std::uint64_t> arrivals;  // per bin, from the first arrival on
  // GPUs that jobs ask for at once, mean of the bin. Ends with the last arrival. Jobs whose GPUs or
  // duration are unknown are left out; MIG slices and shards too.
  std::vector<double> gpus;
  // Mean arrivals per hour by day of the week (from the day of the first arrival of a trace whose
  // zero is its own, else from Monday, UTC) and hour of the day; NaN for hours outside the trace.
  std::array<std::array<double, 24>, 7> week{};
  bool from_monday = false;
};

[[nodiscard]] LoadOverTime load_over_time(const Trace& trace, std::size_t most_bins = 2000);

}  // namespace berth::trace
