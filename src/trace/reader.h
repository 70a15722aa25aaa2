// Reading a trace of any known format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth::trace {

struct ReadOptions {
  std::string format = "auto";    // a reader's name, or "auto": decided by the content
  std::uint64_t limit = 0;        // keep the first N jobs by arrival; 0: all
  std::optional<TimeUs> from_us;  // keep arrivals in [from, to), counted from the first arrival
  std::optional<TimeUs> to_us;
};

struct ReadResult {
  Trace trace;
  RejectReport report;
};

// Reads, sorts by arrival (ties in file order), counts arrivals from the first one, then applies
// from/to and limit. Errors: file that is missing, empty, damaged, or not of its format.
[[nodiscard]] Result<ReadResult> read_trace(const std::string& path, const ReadOptions& options);

// The same for a file's bytes in memory, without the filters: for tests.
[[nodiscard]] Result<ReadResult> read_trace_bytes(std::string_view bytes,
                                                  const std::string& format);

// Names for --format, without "auto".
[[nodiscard]] std::span<const std::string_view> trace_formats();

}  // namespace berth::trace
