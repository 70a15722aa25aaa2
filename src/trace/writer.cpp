#include "trace/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/datetime.h"
#include "trace/berth_columns.h"
#include "trace/input.h"
#include "trace/values.h"

namespace berth::trace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} * 1024;

// value / 10^digits as decimal text without trailing zeros: exact.
void append_decimal(std::string& out, std::int64_t value, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  if (value < 0) out += '-';
  const std::int64_t whole = value / unit;
  std::int64_t rest = value % unit;
  fmt::format_to(std::back_inserter(out), "{}", whole < 0 ? -whole : whole);
  if (rest < 0) rest = -rest;
  if (rest == 0) return;
  const std::size_t start = out.size();
  fmt::format_to(std::back_inserter(out), ".{:0{}}", rest, digits);
  while (out.size() > start && out.back() == '0') out.pop_back();
}

void append_known(std::string& out, MaybeInt value, int digits) {
  if (value.known()) append_decimal(out, value.value(), digits);
}

// Line ends and backslashes are escaped, so that a row stays a line; the rest is quoted as CSV has
// it.
void append_text(std::string& out, std::string_view text) {
  if (text.empty()) return;
  const bool blank_end = static_cast<unsigned char>(text.front()) <= ' ' ||
                         static_cast<unsigned char>(text.back()) <= ' ';
  if (!blank_end && text.find_first_of(",\"\n\r\\") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\"\"";
        break;
      default:
        out += c;
    }
  }
  out += '"';
}

struct ColumnWriter {
  BerthColumn column;
  bool (*used)(const Trace& trace, const TraceJob& job);
  void (*append)(std::string& out, const Trace& trace, const TraceJob& job);
};

template <MaybeInt TraceJob::*Field, int Digits>
constexpr ColumnWriter number(BerthColumn column) {
  return {column, [](const Trace&, const TraceJob& job) { return (job.*Field).known(); },
          [](std::string& out, const Trace&, const TraceJob& job) {
            append_known(out, job.*Field, Digits);
          }};
}

template <std::uint32_t TraceJob::*Field, NameTable Trace::*Names>
constexpr ColumnWriter name(BerthColumn column) {
  return {column,
          [](const Trace&, const TraceJob& job) { return job.*Field != NameTable::kNoName; },
          [](std::string& out, const Trace& trace, const TraceJob& job) {
            append_text(out, (trace.*Names).name(job.*Field));
          }};
}

constexpr auto kAlways = [](const Trace&, const TraceJob&) { return true; };

constexpr ColumnWriter kWriters[] = {
    {kColId, kAlways,
     [](std::string& out, const Trace&, const TraceJob& job) { append_text(out, job.id); }},
    {kColArrival, kAlways,
     [](std::string& out, const Trace& trace, const TraceJob& job) {
       append_decimal(out, job.arrival_us + (trace.zero_is_unix_time ? 0 : trace.zero_us), 6);
     }},
    {kColSubmitted, [](const Trace& trace, const TraceJob&) { return trace.zero_is_unix_time; },
     [](std::string& out, const Trace& trace, const TraceJob& job) {
       out += format_utc(trace.zero_us + job.arrival_us);
     }},
    number<&TraceJob::duration_us, 6>(kColDuration),
    number<&TraceJob::queue_us, 6>(kColQueue),
    {kColGpus, kAlways,
     [](std::string& out, const Trace&, const TraceJob& job) {
       append_known(out, job.gpu_milli, 3);
     }},
    {kColGpuKind, [](const Trace&, const TraceJob& job) { return job.mig_slice || job.shards; },
     [](std::string& out, const Trace&, const TraceJob& job) {
       if (job.mig_slice) out += kGpuKindMig;
       if (job.shards) out += kGpuKindShard;
     }},
    name<&TraceJob::gpu_types, &Trace::gpu_types>(kColGpuType),
    number<&TraceJob::nodes, 0>(kColNodes),
    number<&TraceJob::cpu_milli, 3>(kColCpus),
    number<&TraceJob::memory_mib, 0>(kColMemory),
    number<&TraceJob::time_limit_us, 6>(kColTimeLimit),
    number<&TraceJob::deadline_us, 6>(kColDeadline),
    number<&TraceJob::iterations, 0>(kColIterations),
    number<&TraceJob::slo_milli, 3>(kColSlo),
    name<&TraceJob::user, &Trace::users>(kColUser),
    name<&TraceJob::vc, &Trace::vcs>(kColVc),
    name<&TraceJob::model, &Trace::models>(kColModel),
    {kColPriority, [](const Trace&, const TraceJob& job) { return job.priority != 0; },
     [](std::string& out, const Trace&, const TraceJob& job) {
       append_decimal(out, job.priority, 0);
     }},
    {kColWeight, [](const Trace&, const TraceJob& job) { return job.weight_milli != 1000; },
     [](std::string& out, const Trace&, const TraceJob& job) {
       append_decimal(out, job.weight_milli, 3);
     }},
    {kColAttempts, [](const Trace&, const TraceJob& job) { return job.attempts != 1; },
     [](std::string& out, const Trace&, const TraceJob& job) {
       append_decimal(out, job.attempts, 0);
     }},
    {kColStatus,
     [](const Trace&, const TraceJob& job) { return job.status != EndStatus::kUnknown; },
     [](std::string& out, const Trace&, const TraceJob& job) { out += status_name(job.status); }},
    {kColName, [](const Trace&, const TraceJob& job) { return !job.name.empty(); },
     [](std::string& out, const Trace&, const TraceJob& job) { append_text(out, job.name); }},
};
static_assert(std::size(kWriters) == kBerthColumnCount);

Error too_long(const Trace& trace, const TraceJob& job) {
  return bad_input(trace.source, 0, "id", "the texts of a job are too long to be written",
                   fmt::format("'{}'", printable(job.id)),
                   fmt::format("a line of at most {} bytes", Input::kMaxLineBytes));
}

}  // namespace

Status write_trace(const Trace& trace, ByteSink& sink) {
  std::vector<const ColumnWriter*> columns;
  for (const ColumnWriter& writer : kWriters) {
    const bool used = std::any_of(trace.jobs.begin(), trace.jobs.end(),
                                  [&](const TraceJob& job) { return writer.used(trace, job); });
    // An empty trace keeps the header that every trace has.
    if (used || writer.column == kColId || writer.column == kColArrival ||
        writer.column == kColGpus) {
      columns.push_back(&writer);
    }
  }
  std::string out;
  for (const ColumnWriter* writer : columns) {
    if (!out.empty()) out += ',';
    out += kBerthColumns[writer->column].name;
  }
  out += '\n';
  for (const TraceJob& job : trace.jobs) {
    const std::size_t start = out.size();
    const char* comma = "";
    for (const ColumnWriter* writer : columns) {
      out += comma;
      writer->append(out, trace, job);
      comma = ",";
    }
    if (out.size() - start > Input::kMaxLineBytes) return fail(too_long(trace, job));
    out += '\n';
    if (out.size() < kBlockBytes) continue;
    BERTH_CHECK_OK(sink.write(out));
    out.clear();
  }
  return sink.write(out);
}

Status write_trace(const Trace& trace, const std::string& path) {
  BERTH_TRY(auto sink, open_sink(path));
  BERTH_CHECK_OK(write_trace(trace, *sink));
  return sink->finish();
}

}  // namespace berth::trace
