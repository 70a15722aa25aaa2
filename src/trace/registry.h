// The table of formats.
//
// To add a reader NAME:
//   1. src/trace/formats/NAME.cpp with a `detect` and a `read` (below) and one object
//      `const Reader kNameReader`; declare it in formats/readers.h and list it in registry.cpp.
//   2. Delimited text with column names: describe the columns in a TableSpec and loop over Table
//      (table.h); philly_csv.cpp is the shortest example. Other text: Input::next_line (input.h);
//      other shapes: Input::window, more and consume. Compression, byte-order marks, line ends and
//      limits are dealt with below that; read_trace sorts, counts arrivals from the first, filters,
//      asks Input::status and refuses a trace without rows: no reader does.
//   3. Fields become values through values.h, so that "nan", "-3" and "1e400" mean the same
//      everywhere. A row that cannot be used: RejectReport::reject with a short reason that can be
//      counted, field, found, expected; used all the same: warn; not a job by design: count.
//      Unknown stays unknown. Jobs go through Collector::add, which refuses an id twice.
//   4. A folder or a file with companions (tables in several files): ReadContext::path. `input` is
//      null for a folder, which comes only to a reader that says reads_folders; further files are
//      opened with Input::open, whose status() the reader then checks itself.
//   5. docs/trace-formats.md, cases in tests/cases, a fuzz target tests/fuzz/trace_NAME.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/input.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth::trace {

struct Probe {
  const std::string& path;
  std::string_view head;  // decompressed, without a byte-order mark; "" for a folder
  bool folder = false;
};

struct ReadContext {
  const std::string& path;
  Input* input;  // null for a folder
  Trace& trace;
  RejectReport& report;
};

struct Reader {
  std::string_view name;
  std::string_view title;  // for people
  // How sure it is that the content is of its format, 0 to 100; below kLeastScore: no.
  int (*detect)(const Probe& probe) = nullptr;
  // Fills trace.jobs in the order of the input. Errors: damaged beyond single rows.
  Status (*read)(ReadContext& context) = nullptr;
  bool reads_folders = false;
};

inline constexpr int kLeastScore = 40;

[[nodiscard]] std::span<const Reader* const> readers();

}  // namespace berth::trace
