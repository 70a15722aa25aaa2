#include "trace/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "trace/registry.h"

namespace berth::trace {
namespace {

Result<const Reader*> find_reader(std::string_view name) {
  for (const Reader* reader : readers()) {
    if (reader->name == name) return reader;
  }
  return fail(usage_error(unknown_name("trace format", name, trace_formats()), "--format"));
}

Result<const Reader*> detect(const Probe& probe) {
  const Reader* best = nullptr;
  int best_score = kLeastScore - 1;
  for (const Reader* reader : readers()) {
    const int score = reader->detect(probe);
    if (score > best_score) {
      best = reader;
      best_score = score;
    }
  }
  if (best != nullptr) return best;
  std::string first(probe.head.substr(0, std::min<std::size_t>(probe.head.find('\n'), 80)));
  return fail(bad_input(
      probe.path, probe.folder ? 0 : 1, {}, "the trace format is not recognised",
      probe.folder ? "a folder" : fmt::format("'{}'", printable(first)),
      fmt::format("one of {} (name it with --format)", fmt::join(trace_formats(), ", "))));
}

// By arrival, ties in the order of the input. The keys are sorted and each job then goes to its
// place: jobs are too large to be moved more than once, or to be held twice.
void sort(std::vector<TraceJob>& jobs) {
  std::vector<std::pair<TimeUs, std::uint32_t>> order;  // what comes to place i, and from where
  order.reserve(jobs.size());
  for (const TraceJob& job : jobs) {
    order.emplace_back(job.arrival_us, static_cast<std::uint32_t>(order.size()));
  }
  std::sort(order.begin(), order.end());
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    if (order[first].second == first) continue;
    const TraceJob held = jobs[first];  // a cycle of places
    std::uint32_t at = first;
    while (order[at].second != first) {
      const std::uint32_t from = std::exchange(order[at].second, at);
      jobs[at] = jobs[from];
      at = from;
    }
    order[at].second = at;
    jobs[at] = held;
  }
}

void sort_and_normalise(Trace& trace) {
  const auto by_arrival = [](const TraceJob& a, const TraceJob& b) {
    return a.arrival_us < b.arrival_us;
  };
  if (trace.jobs.empty()) return;
  if (!std::is_sorted(trace.jobs.begin(), trace.jobs.end(), by_arrival)) sort(trace.jobs);
  trace.zero_us = trace.jobs.front().arrival_us;
  for (TraceJob& job : trace.jobs) job.arrival_us -= trace.zero_us;
}

// Errors: no job arrives in the time asked for.
Status filter(Trace& trace, const ReadOptions& options) {
  auto& jobs = trace.jobs;
  if (jobs.empty()) return {};
  const TimeUs last_us = jobs.back().arrival_us;
  const auto earlier = [](const TraceJob& job, TimeUs at) { return job.arrival_us < at; };
  if (options.to_us) {
    jobs.erase(std::lower_bound(jobs.begin(), jobs.end(), *options.to_us, earlier), jobs.end());
  }
  if (options.from_us) {
    jobs.erase(jobs.begin(), std::lower_bound(jobs.begin(), jobs.end(), *options.from_us, earlier));
  }
  if (jobs.empty()) {
    Error error = usage_error("no job of the trace arrives in this time",
                              options.from_us ? "--from" : "--to");
    error.expected = fmt::format("arrivals are from 0 to {} s after the first", seconds(last_us));
    return fail(std::move(error));
  }
  if (options.limit != 0 && jobs.size() > options.limit) jobs.resize(options.limit);
  return {};
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Rows that all have another number of fields than the format: it is another format.
Status right_shape(const std::string& path, const RejectReport& report) {
  const auto& reasons = report.rejected_by_reason();
  if (reasons.size() != 1 || reasons.begin()->first != kWrongFieldCount) return {};
  const RowNote& first = report.rejected_notes().front();
  return fail(bad_input(path, first.line, "columns", "no row has the right number of fields",
                        first.found, first.expected));
}

Result<ReadResult> read_from(const std::string& path, Input* input, const std::string& format) {
  ReadResult result;
  const Reader* reader = nullptr;
  if (format == "auto") {
    const Probe probe{path, input == nullptr ? std::string_view{} : input->window(),
                      input == nullptr};
    BERTH_TRY(reader, detect(probe));
  } else {
    BERTH_TRY(reader, find_reader(format));
  }
  result.trace.format = reader->name;
  result.trace.source = path;
  if (input == nullptr && !reader->reads_folders) {
    return fail(bad_input(path, 0, {}, "cannot be read as one trace", "a folder",
                          fmt::format("a {} file", reader->name)));
  }
  ReadContext context{path, input, result.trace, result.report};
  const Status status = reader->read(context);
  // A damaged stream looks like an early end to the reader: the stream's own word comes first.
  if (input != nullptr && !input->status()) return fail(input->status().error());
  if (!status) return fail(status.error());
  const auto& report = result.report;
  if (result.trace.jobs.empty() && report.rejected() == 0) {
    return fail(bad_input(path, 0, {},
                          fmt::format("there is no job in this {} trace", reader->name), "no rows",
                          "at least one"));
  }
  if (result.trace.jobs.empty()) BERTH_CHECK_OK(right_shape(path, report));
  sort_and_normalise(result.trace);
  return result;
}

}  // namespace

Result<ReadResult> read_trace(const std::string& path, const ReadOptions& options) {
  if (options.format != "auto") BERTH_CHECK_OK(find_reader(options.format));
  if (is_folder(path)) {
    BERTH_TRY(ReadResult result, read_from(path, nullptr, options.format));
    BERTH_CHECK_OK(filter(result.trace, options));
    return result;
  }
  BERTH_TRY(Input input, Input::open(path));
  BERTH_TRY(ReadResult result, read_from(path, &input, options.format));
  BERTH_CHECK_OK(filter(result.trace, options));
  return result;
}

Result<ReadResult> read_trace_bytes(std::string_view bytes, const std::string& format) {
  BERTH_TRY(Input input, Input::from_memory("memory", bytes));
  return read_from("memory", &input, format);
}

std::span<const std::string_view> trace_formats() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Reader* reader : readers()) out.push_back(reader->name);
    return out;
  }();
  return names;
}

}  // namespace berth::trace
