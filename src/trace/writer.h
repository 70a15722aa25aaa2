// Writes a trace in Berth's own format (docs/trace-format.md). Reading it back gives the same jobs.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/trace.h"

namespace berth::trace {

// Columns that no job uses are left out. Times of a trace that has a zero of its own are written as
// its input has them; else arrivals count from the first, and submitted_utc has the calendar time.
[[nodiscard]] Status write_trace(const Trace& trace, ByteSink& sink);

// The same to a file, compressed by its name (.gz, .xz, .zst), put in its place when it is whole.
[[nodiscard]] Status write_trace(const Trace& trace, const std::string& path);

}  // namespace berth::trace
