// The options by which commands name a trace, and how they read it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli.h"
#include "trace/reader.h"

namespace berth::cli {

// --trace, --format, --limit, --from, --to.
[[nodiscard]] std::vector<Option> trace_options();
[[nodiscard]] Result<trace::ReadOptions> trace_read_options(const Args& args);
[[nodiscard]] Result<trace::ReadResult> read_trace_from(const Args& args);

// One line on standard error if rows were rejected or mended, with the first of them.
void tell_report(const trace::RejectReport& report);
// rejected, rejected_by_reason, rejected_rows, warned, warned_by_reason, warned_rows, counts: added
// to a JSON object. The lists of rows hold RejectReport::kKeptNotes at most.
void add_report(nlohmann::ordered_json& object, const trace::RejectReport& report);

}  // namespace berth::cli
