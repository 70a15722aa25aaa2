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

inline void require(bool holds, std::string_view what, const std::string& found = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s %s\n", static_cast<int>(what.size()), what.data(),
               found.c_str());
  std::abort();
}

// Of a trace as readers hand it out: by arrival, from 0.
inline void check(const trace::Trace& trace) {
  TimeUs last = 0;
  for (const trace::TraceJob& job : trace.jobs) {
    require(job.arrival_us >= last, "arrivals are in order, from 0");
    require(job.duration_us.value_or(0) >= 0, "durations are not negative");
    require(job.gpu_milli.value_or(0) >= 0, "GPUs are not negative");
    last = job.arrival_us;
  }
  (void)trace::summarise(trace);
  if (trace.jobs.empty()) return;
  const std::string text = test::written(trace);
  const auto again = trace::read_trace_bytes(text, "berth");
  require(again.has_value(), "what was written can be read",
          again ? std::string() : again.error().text());
  require(again->report.rejected() == 0, "no written row is rejected");
  const std::string difference = test::difference(trace, again->trace);
  require(difference.empty(), "the same comes back", difference);
}

inline int read_as(const std::string& format, const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto result = trace::read_trace_bytes(bytes, format);
  if (result) {
    check(result->trace);
  } else {
    require(result.error().exit_code() == 2, "a bad file is exit 2", result.error().text());
  }
  return 0;
}

}  // namespace berth::fuzz
