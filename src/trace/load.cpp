#include "trace/load.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::trace {
namespace {

constexpr std::int64_t kEpochDay = 3;  // 1 January 1970 was a Thursday

void add_demand(const Trace& trace, LoadOverTime& out) {
  // Differences of GPU-microseconds per bin: a whole bin costs two additions, however long the job.
  const std::size_t bins = out.arrivals.size();
  std::vector<double> level(bins + 1, 0);
  std::vector<double> partial(bins + 1, 0);
  const TimeUs end = static_cast<TimeUs>(bins) * out.bin_us;
  for (const TraceJob& job : trace.jobs) {
    if (!job.gpu_milli.known() || !job.duration_us.known() || job.mig_slice || job.shards) continue;
    const double gpus = static_cast<double>(job.gpu_milli.value()) / 1000;
    const TimeUs from = job.arrival_us;
    const TimeUs to = std::min(end, from + job.duration_us.value());
    const auto first = static_cast<std::size_t>(from / out.bin_us);
    const auto last = static_cast<std::size_t>(to / out.bin_us);
    // From `first` on the job counts whole; what lies before its start and after its end is taken
    // off.
    level[first] += gpus;
    level[last] -= gpus;
    const auto share = [&](TimeUs at) {
      return gpus * static_cast<double>(at % out.bin_us) / static_cast<double>(out.bin_us);
    };
    partial[first] -= share(from);
    partial[last] += share(to);
  }
  double running = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    running += level[bin];
    out.gpus.push_back(std::max(0.0, running + partial[bin]));
  }
}

void add_week(const Trace& trace, LoadOverTime& out) {
  out.from_monday = trace.zero_is_unix_time;
  const std::int64_t first_hour = trace.zero_is_unix_time ? trace.zero_us / kUsPerHour : 0;
  const auto slot = [&](std::int64_t hour) -> std::pair<std::size_t, std::size_t> {
    const std::int64_t day = hour / 24 + (out.from_monday ? kEpochDay : 0);
    return {static_cast<std::size_t>(day % 7), static_cast<std::size_t>(hour % 24)};
  };
  const TimeUs offset = trace.zero_is_unix_time ? trace.zero_us % kUsPerHour : 0;
  const std::int64_t hours = (trace.jobs.back().arrival_us + offset) / kUsPerHour + 1;
  std::array<std::array<std::int64_t, 24>, 7> seen{};
  const std::int64_t cycles = hours / 168;
  for (auto& day : seen) day.fill(cycles);
  for (std::int64_t h = first_hour + cycles * 168; h < first_hour + hours; ++h) {
    const auto [day, hour] = slot(h);
    ++seen.at(day).at(hour);
  }
  for (const TraceJob& job : trace.jobs) {
    const auto [day, hour] = slot(first_hour + (job.arrival_us + offset) / kUsPerHour);
    out.week.at(day).at(hour) += 1;
  }
  for (std::size_t day = 0; day < 7; ++day) {
    for (std::size_t hour = 0; hour < 24; ++hour) {
      const auto n = seen.at(day).at(hour);
      double& mean = out.week.at(day).at(hour);
      mean = n > 0 ? mean / static_cast<double>(n) : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace

LoadOverTime load_over_time(const Trace& trace, std::size_t most_bins) {
  LoadOverTime out;
  if (trace.jobs.empty()) return out;
  const TimeUs hours = trace.jobs.back().arrival_us / kUsPerHour + 1;
  const auto wanted = static_cast<TimeUs>(std::max<std::size_t>(1, most_bins));
  out.bin_us = kUsPerHour * ((hours + wanted - 1) / wanted);
  out.arrivals.resize(static_cast<std::size_t>(trace.jobs.back().arrival_us / out.bin_us) + 1);
  for (const TraceJob& job : trace.jobs) {
    ++out.arrivals[static_cast<std::size_t>(job.arrival_us / out.bin_us)];
  }
  add_demand(trace, out);
  add_week(trace, out);
  return out;
}

}  // namespace berth::trace
