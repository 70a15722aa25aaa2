#include "trace_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"
#include "console.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string describe(const trace::RowNote& note) {
  std::string out;
  if (!note.file.empty()) out += printable(note.file) + ": ";
  if (note.line != 0) out += fmt::format("line {}: ", note.line);
  if (!note.field.empty()) out += printable(note.field) + ": ";
  out += note.reason;
  if (!note.found.empty()) out += ": found " + printable(note.found);
  if (!note.expected.empty()) out += ", expected " + printable(note.expected);
  return out;
}

Json rows_json(const std::vector<trace::RowNote>& notes) {
  Json rows = Json::array();
  for (const auto& note : notes) {
    Json& row = rows.emplace_back(Json::object());
    if (!note.file.empty()) row["file"] = note.file;
    row["line"] = note.line != 0 ? Json(note.line) : Json(nullptr);
    row["reason"] = note.reason;
    row["field"] = note.field;
    row["found"] = note.found;
    row["expected"] = note.expected;
  }
  return rows;
}

Result<TimeUs> duration_option(const Args& args, std::string_view name) {
  const std::string text = args.text(name);
  if (const auto us = parse_duration_us(text)) return *us;
  Error error = usage_error("not a time", std::string(name));
  error.found = "'" + text + "'";
  error.expected = "seconds from the first arrival, or a number with s, m, h or d";
  return fail(std::move(error));
}

void tell(std::string_view what, std::uint64_t n, const std::vector<trace::RowNote>& notes) {
  if (n == 0) return;
  print_err(fmt::format("berth: {} {}; the first: {}\n", counted(n, "row"), what,
                        describe(notes.front())));
}

}  // namespace

std::vector<Option> trace_options() {
  return {
      {.name = "--trace",
       .metavar = "F",
       .help = "the trace (plain, .gz, .xz or .zst; -: standard input)",
       .required = true},
      {.name = "--format",
       .metavar = "X",
       .help = "its format; auto: found by the content",
       .default_value = "auto"},
      {.name = "--limit", .metavar = "N", .help = "the first N jobs only"},
      {.name = "--from", .metavar = "T", .help = "arrivals from T on (seconds, or 12h, 7d)"},
      {.name = "--to", .metavar = "T", .help = "arrivals before T"},
  };
}

Result<trace::ReadOptions> trace_read_options(const Args& args) {
  trace::ReadOptions options;
  const auto formats = trace::trace_formats();
  std::vector<std::string_view> names(formats.begin(), formats.end());
  names.emplace_back("auto");
  BERTH_TRY(options.format, args.choice("--format", names));
  if (args.has("--limit")) {
    BERTH_TRY(const std::int64_t limit, args.integer("--limit", 1, INT64_MAX));
    options.limit = static_cast<std::uint64_t>(limit);
  }
  if (args.has("--from")) {
    BERTH_TRY(options.from_us, duration_option(args, "--from"));
  }
  if (args.has("--to")) {
    BERTH_TRY(options.to_us, duration_option(args, "--to"));
    if (options.from_us && *options.to_us <= *options.from_us) {
      return fail(usage_error("must be later than --from", "--to"));
    }
  }
  return options;
}

Result<trace::ReadResult> read_trace_from(const Args& args) {
  BERTH_TRY(const trace::ReadOptions options, trace_read_options(args));
  return trace::read_trace(args.text("--trace"), options);
}

void tell_report(const trace::RejectReport& report) {
  tell("rejected", report.rejected(), report.rejected_notes());
  tell("used with a warning", report.warned(), report.warned_notes());
}

void add_report(Json& object, const trace::RejectReport& report) {
  object["rejected"] = report.rejected();
  object["rejected_by_reason"] = report.rejected_by_reason();
  object["rejected_rows"] = rows_json(report.rejected_notes());
  object["warned"] = report.warned();
  object["warned_by_reason"] = report.warned_by_reason();
  object["warned_rows"] = rows_json(report.warned_notes());
  object["counts"] = report.counts();
}

}  // namespace berth::cli
