// berth trace stats: what is in a trace, and which of its rows could not be used.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/datetime.h"
#include "base/text.h"
#include "commands.h"
#include "output.h"
#include "report/table.h"
#include "report/trace_page.h"
#include "trace/summary.h"
#include "trace_options.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;
using trace::Quantiles;
using trace::TraceSummary;

Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json scaled(MaybeInt value, double unit) {
  return value.known() ? Json(static_cast<double>(value.value()) / unit) : Json(nullptr);
}

Json quantiles_json(const Quantiles& quantiles, double unit) {
  Json out;
  out["known"] = quantiles.known;
  out["unknown"] = quantiles.unknown;
  out["mean"] = quantiles.known > 0 ? json_number(quantiles.mean / unit) : Json(nullptr);
  out["min"] = scaled(quantiles.min, unit);
  for (std::size_t i = 0; i < quantiles.at.size(); ++i) {
    out[fmt::format("p{:02}", Quantiles::kPercents[i])] = scaled(quantiles.at[i], unit);
  }
  out["max"] = scaled(quantiles.max, unit);
  return out;
}

Json groups_json(const std::vector<trace::GroupSummary>& groups) {
  Json out = Json::object();
  for (const auto& group : groups) {
    // Bytes that are not UTF-8 are escaped: replaced, two names could become the same key.
    const std::string name = printable(group.name, std::string::npos);
    out[name.empty() ? "unknown" : name] = {{"jobs", group.jobs},
                                            {"gpu_hours", json_number(group.gpu_hours)}};
  }
  return out;
}

Json to_json(const trace::ReadResult& result, const TraceSummary& summary) {
  Json out;
  out["format"] = result.trace.format;
  out["trace"] = result.trace.source;
  out["jobs"] = summary.jobs;
  add_report(out, result.report);
  out["first_arrival_s"] =
      summary.jobs > 0 ? Json(seconds(summary.first_arrival_us)) : Json(nullptr);
  out["first_arrival_utc"] = summary.jobs > 0 && result.trace.zero_is_unix_time
                                 ? Json(format_utc(summary.first_arrival_us))
                                 : Json(nullptr);
  out["span_s"] = summary.jobs > 0 ? Json(seconds(summary.span_us)) : Json(nullptr);
  out["gpu_hours"] = json_number(summary.gpu_hours);
  out["max_gpus"] = scaled(summary.max_gpu_milli, 1000);
  out["cpu_jobs"] = summary.cpu_jobs;
  out["fractional_jobs"] = summary.fractional_jobs;
  out["unknown_gpus"] = summary.unknown_gpus;
  out["users"] = summary.users;
  out["models"] = summary.models;
  out["quantiles"] = {{"duration_s", quantiles_json(summary.duration_us, 1e6)},
                      {"gpus", quantiles_json(summary.gpu_milli, 1e3)},
                      {"interarrival_s", quantiles_json(summary.interarrival_us, 1e6)},
                      {"queue_s", quantiles_json(summary.queue_us, 1e6)}};
  out["by_status"] = groups_json(summary.statuses);
  out["by_vc"] = groups_json(summary.vcs);
  return out;
}

std::string cell(MaybeInt value, double unit) {
  return value.known() ? fmt::format("{:.12g}", static_cast<double>(value.value()) / unit) : "-";
}

void add_quantiles(Table& table, const char* name, const Quantiles& quantiles, double unit) {
  if (quantiles.known == 0) return;
  std::vector<std::string> cells{name, fmt::format("{:.6g}", quantiles.mean / unit),
                                 cell(quantiles.min, unit)};
  for (const MaybeInt value : quantiles.at) cells.push_back(cell(value, unit));
  cells.push_back(cell(quantiles.max, unit));
  cells.push_back(with_thousands(static_cast<std::int64_t>(quantiles.unknown)));
  table.add_row(std::move(cells));
}

void print_quantiles(const TraceSummary& summary) {
  if (summary.jobs == 0) return;
  std::vector<Table::Column> columns{{"", Align::kLeft}, {"mean"}, {"min"}};
  for (const int percent : Quantiles::kPercents) columns.push_back({fmt::format("p{}", percent)});
  columns.push_back({"max"});
  columns.push_back({"unknown"});
  Table table(std::move(columns));
  add_quantiles(table, "duration, s", summary.duration_us, 1e6);
  add_quantiles(table, "GPUs", summary.gpu_milli, 1e3);
  add_quantiles(table, "inter-arrival, s", summary.interarrival_us, 1e6);
  add_quantiles(table, "queued, s", summary.queue_us, 1e6);
  fmt::print("\n{}", table.text());
}

void print_groups(const char* title, const std::vector<trace::GroupSummary>& groups) {
  if (groups.size() < 2 && (groups.empty() || groups[0].name.empty())) return;
  Table table({{title, Align::kLeft}, {"jobs"}, {"GPU-hours"}});
  for (const auto& group : groups) {
    table.add_row({group.name.empty() ? "unknown" : printable(group.name),
                   with_thousands(static_cast<std::int64_t>(group.jobs)),
                   fmt::format("{:.1f}", group.gpu_hours)});
  }
  fmt::print("\n{}", table.text());
}

void print_notes(const char* title, std::uint64_t total,
                 const std::map<std::string, std::uint64_t>& by_reason,
                 const std::vector<trace::RowNote>& notes) {
  if (total == 0) return;
  constexpr std::size_t kShown = 20;
  Table reasons({{fmt::format("{} rows by reason", title), Align::kLeft}, {"rows"}});
  for (const auto& [reason, n] : by_reason) {
    reasons.add_row({reason, with_thousands(static_cast<std::int64_t>(n))});
  }
  fmt::print("\n{}", reasons.text());
  Table rows({{"line"},
              {"reason", Align::kLeft},
              {"field", Align::kLeft},
              {"found", Align::kLeft},
              {"expected", Align::kLeft}});
  for (std::size_t i = 0; i < std::min(notes.size(), kShown); ++i) {
    const auto& note = notes[i];
    std::string line = note.line != 0 ? fmt::format("{}", note.line) : "-";
    if (!note.file.empty()) line = note.file + ":" + line;
    rows.add_row({printable(line), note.reason, printable(note.field), printable(note.found),
                  printable(note.expected)});
  }
  fmt::print("\n{}", rows.text());
  if (total > kShown) {
    fmt::print("and {} more (--json lists {})\n",
               with_thousands(static_cast<std::int64_t>(total - kShown)),
               total > notes.size() ? fmt::format("the first {}", notes.size()) : "all");
  }
}

void print_for_people(const trace::ReadResult& result, const TraceSummary& summary) {
  const auto& report = result.report;
  Table facts({{"trace", Align::kLeft}, {printable(result.trace.source, 200), Align::kLeft}});
  const auto number = [](std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); };
  facts.add_row({"format", result.trace.format});
  facts.add_row({"jobs", number(summary.jobs)});
  facts.add_row({"rejected rows", number(report.rejected())});
  facts.add_row({"rows with a warning", number(report.warned())});
  for (const auto& [what, n] : report.counts()) facts.add_row({what, number(n)});
  if (summary.jobs > 0) {
    facts.add_row({"first arrival", result.trace.zero_is_unix_time
                                        ? format_utc(summary.first_arrival_us)
                                        : fmt::format("{} s", seconds(summary.first_arrival_us))});
    facts.add_row({"span of arrivals", human_duration(summary.span_us)});
    facts.add_row({"GPU-hours", fmt::format("{:.1f}", summary.gpu_hours)});
    facts.add_row({"most GPUs of a job", cell(summary.max_gpu_milli, 1000)});
  }
  if (summary.cpu_jobs > 0) facts.add_row({"CPU jobs", number(summary.cpu_jobs)});
  if (summary.fractional_jobs > 0)
    facts.add_row({"shares of a GPU", number(summary.fractional_jobs)});
  if (summary.unknown_gpus > 0) facts.add_row({"GPUs unknown", number(summary.unknown_gpus)});
  if (summary.users > 0) facts.add_row({"users", number(summary.users)});
  if (summary.models > 0) facts.add_row({"models", number(summary.models)});
  fmt::print("{}", facts.text());
  print_quantiles(summary);
  print_groups("status", summary.statuses);
  print_groups("virtual cluster", summary.vcs);
  print_notes("rejected", report.rejected(), report.rejected_by_reason(), report.rejected_notes());
  print_notes("warned", report.warned(), report.warned_by_reason(), report.warned_notes());
}

Status stats(const Args& args) {
  BERTH_TRY(const trace::ReadResult result, read_trace_from(args));
  const TraceSummary summary = trace::summarise(result.trace);
  if (args.has("--plot")) {
    BERTH_CHECK_OK(write_output(args.text("--plot"), report::trace_page(result)));
  }
  const std::string target = args.text("--json");
  if (target != "-") print_for_people(result, summary);
  if (target.empty()) return {};
  // Names in a trace need not be UTF-8: what is not becomes U+FFFD.
  return write_output(
      target, to_json(result, summary).dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

int run(const Args& args) {
  const Status status = stats(args);
  return status ? kDone : report_error(status.error());
}

}  // namespace

Command trace_stats_command_info() {
  Command command{.path = "trace stats",
                  .summary = "what is in a trace: counts, quantiles, rejected rows",
                  .example = "berth trace stats --trace philly_trace.csv.xz",
                  .options = trace_options(),
                  .run = run};
  command.options.push_back({.name = "--plot",
                             .metavar = "F.html",
                             .help = "a page with load over time and distributions"});
  command.options.push_back({.name = "--json",
                             .metavar = "F",
                             .help = "the same as JSON to a file; -: standard output, alone"});
  return command;
}

}  // namespace berth::cli
