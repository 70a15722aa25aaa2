// What every reader's fuzz target checks: no input crashes it, what it accepts is sound, and what
// it accepts comes back the same through Berth's own format.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../support/trace_round_trip.h"
#include "trace/summary.h"

namespace berth::fuzz {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

inline int read_as(const std::string& format, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto result = trace::read_trace_bytes(bytes, format);
  if (!result) {
    require(result.error().exit_code() == 2, "a bad file is exit 2: " + result.error().text());
    return 0;
  }
  TimeUs last = 0;
  for (const trace::TraceJob& job : result->trace.jobs) {
    require(job.arrival_us >= last, "arrivals are in order, from 0");
    require(job.duration_us.value_or(0) >= 0, "durations are not negative");
    require(job.gpu_milli.value_or(0) >= 0, "GPUs are not negative");
    last = job.arrival_us;
  }
  (void)trace::summarise(result->trace);
  if (result->trace.jobs.empty()) return 0;
  const std::string text = test::written(result->trace);
  const auto again = trace::read_trace_bytes(text, "berth");
  require(again.has_value(), "what was written can be read");
  require(again->report.rejected() == 0, "no written row is rejected");
  require(test::difference(result->trace, again->trace).empty(),
          "the same comes back: " + test::difference(result->trace, again->trace));
  return 0;
}

}  // namespace berth::fuzz
