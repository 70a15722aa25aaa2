// The Standard Workload Format of the Parallel Workloads Archive, version 2.2: 18 numbers a line,
// comments start with ";", -1 means unknown. Processors are taken as GPUs.
#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/line_fields.h"

namespace berth::trace {
namespace {

// Positions, from 0.
enum Field : std::size_t {
  kId = 0,
  kSubmit = 1,
  kWait = 2,
  kRun = 3,
  kAllocated = 4,
  kRequested = 7,
  kTimeLimit = 8,
  kMemory = 9,
  kStatus = 10,
  kUser = 11,
  kFieldCount = 18
};

constexpr Fault kNoProcessors{"no processor count", "a positive number in field 5 or 8"};
constexpr Fault kNoRunTime{"run time unknown", "seconds of at least 0"};
constexpr Fault kNeverStarted{"never started", "a run time"};
constexpr Fault kBadStatus{"unknown status", "0, 1 or 5; taken as unknown"};

bool is_unknown(std::string_view text) {
  const auto number = parse_number(text);
  return is_missing(text) || (number && *number == -1);
}

// A field in which -1 stands for "unknown".
template <Parser Inner>
const Fault* or_unknown(std::string_view text, MaybeInt& out) {
  return is_unknown(text) ? nullptr : Inner(text, out);
}

// What the job ran on, else what it asked for; 0 and -1 say nothing.
bool read_processors(LineFields& fields, TraceJob& job) {
  MaybeInt allocated;
  MaybeInt requested;
  if (!fields.read(kAllocated, "allocated processors", or_unknown<parse_count>, allocated) ||
      !fields.read(kRequested, "requested processors", or_unknown<parse_count>, requested)) {
    return false;
  }
  std::int64_t count = allocated.value_or(0);
  if (count == 0) count = requested.value_or(0);
  if (count == 0 || count > kMaxCount) {
    fields.reject(kNoProcessors, kAllocated, "allocated processors");
    return false;
  }
  job.gpu_milli = count * 1000;
  return true;
}

EndStatus status_of(std::int64_t code) {
  if (code == 0) return EndStatus::kFailed;
  if (code == 1) return EndStatus::kCompleted;
  return code == 5 ? EndStatus::kCancelled : EndStatus::kUnknown;
}

bool read_run_time(LineFields& fields, TraceJob& job) {
  if (!fields.read(kRun, "run time", or_unknown<parse_duration_s>, job.duration_us)) return false;
  if (job.duration_us.known()) return true;
  const bool cancelled = job.status == EndStatus::kCancelled;
  fields.reject(cancelled ? kNeverStarted : kNoRunTime, kRun, "run time");
  return false;
}

// Memory is in kilobytes a processor.
void set_memory(TraceJob& job, MaybeInt kib) {
  constexpr std::int64_t kMostKib = 1'000'000'000;
  const std::int64_t processors = job.gpu_milli.value() / 1000;
  if (!kib.known() || kib.value() > kMostKib || processors > 1'000'000) return;
  job.memory_mib = (kib.value() * processors + 1023) / 1024;
}

class SwfReader {
 public:
  explicit SwfReader(ReadContext& context)
      : trace_(&context.trace),
        report_(&context.report),
        jobs_(context.trace, context.report, context.input) {}

  void row(LineFields& fields, std::uint64_t line) {
    TraceJob job;
    MaybeInt submit;
    MaybeInt memory;
    MaybeInt status;
    MaybeInt id;
    if (!fields.read_required(kId, "job number", parse_count, id) ||
        !fields.read(kStatus, "status", or_unknown<parse_count>, status)) {
      return;
    }
    // After the line of a job that was suspended come lines for its parts.
    if (status.value_or(0) >= 2 && status.value_or(0) <= 4) {
      report_->count("partial executions");
      return;
    }
    job.status = status_of(status.value_or(-1));
    if (status.value_or(0) > 5) fields.warn(kBadStatus, kStatus, "status");
    if (!fields.read_required(kSubmit, "submit time", parse_arrival_s, submit) ||
        !read_run_time(fields, job) || !read_processors(fields, job) ||
        !fields.read(kWait, "wait time", or_unknown<parse_duration_s>, job.queue_us) ||
        !fields.read(kTimeLimit, "requested time", or_unknown<parse_duration_s>,
                     job.time_limit_us) ||
        !fields.read(kMemory, "requested memory", or_unknown<parse_count>, memory)) {
      return;
    }
    job.arrival_us = submit.value();
    set_memory(job, memory);
    if (!is_unknown(fields[kUser])) job.user = trace_->users.index_of(fields[kUser]);
    jobs_.add(job, fields[kId], line);
  }

 private:
  Trace* trace_;
  RejectReport* report_;
  Collector jobs_;
};

int detect(const Probe& probe) {
  std::string_view head = probe.head;
  const bool comment = trim(head).starts_with(';');
  RejectReport unused;
  LineFields fields(unused);
  for (int lines = 0; lines < 200 && !head.empty(); ++lines) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view whole = head.substr(0, end);
    const std::string_view line = trim(whole.substr(0, whole.find(';')));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.empty()) continue;
    fields.split_at_blanks(line, 1);
    if (fields.size() != kFieldCount) continue;
    bool numbers = true;
    for (std::size_t i = 0; i < kFieldCount; ++i) numbers &= parse_number(fields[i]).has_value();
    if (numbers) return 95;
  }
  return comment ? 45 : 0;
}

Status read(ReadContext& context) {
  LineFields fields(context.report);
  SwfReader reader(context);
  std::string_view line;
  while (context.input->next_line(line)) {
    line = trim(line.substr(0, line.find(';')));
    if (line.empty()) continue;
    const std::uint64_t number = context.input->line_number();
    fields.split_at_blanks(line, number);
    if (fields.size() == kFieldCount) {
      reader.row(fields, number);
    } else {
      fields.reject_count(kFieldCount);
    }
  }
  return {};
}

}  // namespace

const Reader kSwfReader{
    .name = "swf", .title = "Standard Workload Format", .detect = detect, .read = read};

}  // namespace berth::trace
