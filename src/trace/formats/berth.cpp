// Berth's own format: whatever a TraceJob knows, by column name.
#include <fmt/format.h>

#include <algorithm>

#include "base/datetime.h"
#include "base/number.h"
#include "trace/berth_columns.h"
#include "trace/collector.h"
#include "trace/formats/readers.h"

namespace berth::trace {
namespace {

constexpr Fault kBadKind{"unknown kind of GPU", "mig, shard, or nothing"};
constexpr Fault kBadPriority{"not a whole number", "a whole number of 32 bits"};
constexpr Fault kBadAttempts{"out of range", "1 to 4294967295"};
constexpr Fault kBadStatus{
    "unknown status", "completed, failed, cancelled, timeout, node_fail, suspended or nothing"};
constexpr Fault kTwoClocks{"submitted_utc contradicts arrival_s",
                           "the same distance in every row; arrival_s is used"};

bool in_calendar(TimeUs unix_us) {
  return unix_us >= kFirstInstantUs && unix_us < kEndInstantUs;
}

int detect(const Probe& probe) {
  const int score = header_score(probe.head, kBerthSpec);
  // GPUs alone do not make a trace: one of the arrival columns must be there too.
  const auto line = header_line(probe.head, kBerthSpec);
  const bool arrival = line.find("arrival_s") != std::string_view::npos ||
                       line.find("submitted_utc") != std::string_view::npos;
  return arrival ? score : score / 3;
}

// Undoes the writer's escapes; `scratch` holds the result where there are any.
std::string_view unescape(std::string_view text, std::string& scratch) {
  if (text.find('\\') == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      scratch += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == 'n') {
      scratch += '\n';
    } else if (next == 'r') {
      scratch += '\r';
    } else if (next == '\\') {
      scratch += '\\';
    } else {
      scratch += '\\';
      scratch += next;
    }
  }
  return scratch;
}

class BerthReader {
 public:
  BerthReader(ReadContext& context, Table& table)
      : trace_(&context.trace),
        report_(&context.report),
        table_(&table),
        jobs_(context.trace, context.report, context.input) {}

  void row() {
    TraceJob job;
    if (!arrival(job) || !numbers(job) || !words(job)) return;
    std::string_view id = text((*table_)[kColId]);
    if (!table_->has(kColId)) {
      generated_ = fmt::format("{}", table_->rows());
      id = generated_;
    } else if (id.empty()) {
      table_->reject(kMissing, kColId);
      return;
    }
    std::string name_copy;
    job.name = unescape((*table_)[kColName], name_copy);
    job.name = trace_->strings.keep(job.name);
    jobs_.add(job, id, table_->line());
  }

  // Where both clocks are known, the trace's zero is a calendar time, if all arrivals have one.
  void finish() {
    if (!table_->has(kColArrival)) {
      trace_->zero_is_unix_time = true;
      return;
    }
    if (!offset_us_.known()) return;
    const TimeUs offset = offset_us_.value();
    const bool all = std::ranges::all_of(trace_->jobs, [offset](const TraceJob& job) {
      return in_calendar(job.arrival_us + offset);
    });
    if (!all) return warn_about_calendar();
    trace_->zero_is_unix_time = true;
    for (TraceJob& job : trace_->jobs) job.arrival_us += offset;
  }

 private:
  void warn_about_calendar() {
    report_->warn({.file = {},
                   .reason = "arrivals beyond the calendar",
                   .field = "arrival_s",
                   .found = "a time before 1971 or after 2199 by submitted_utc",
                   .expected = "the years between; submitted_utc is not used"});
  }

  bool arrival(TraceJob& job) {
    MaybeInt written;
    MaybeInt submitted;
    if (!table_->read(kColSubmitted, parse_instant, submitted)) return false;
    if (!table_->has(kColArrival)) {
      if (!submitted.known()) table_->reject(kMissing, kColSubmitted);
      job.arrival_us = submitted.value_or(0);
      return submitted.known();
    }
    if (!table_->read_required(kColArrival, parse_arrival_s, written)) return false;
    job.arrival_us = written.value();
    if (submitted.known()) {
      const std::int64_t offset = submitted.value() - written.value();
      if (!offset_us_.known()) offset_us_ = offset;
      if (offset != offset_us_.value()) table_->warn(kTwoClocks, kColSubmitted);
    }
    return true;
  }

  bool numbers(TraceJob& job) {
    MaybeInt priority;
    MaybeInt weight;
    MaybeInt attempts;
    if (!table_->read(kColDuration, parse_duration_s, job.duration_us) ||
        !table_->read(kColQueue, parse_duration_s, job.queue_us) ||
        !table_->read(kColGpus, parse_gpu_milli, job.gpu_milli) ||
        !table_->read(kColNodes, parse_count, job.nodes) ||
        !table_->read(kColCpus, parse_count_milli, job.cpu_milli) ||
        !table_->read(kColMemory, parse_count, job.memory_mib) ||
        !table_->read(kColTimeLimit, parse_duration_s, job.time_limit_us) ||
        !table_->read(kColDeadline, parse_duration_s, job.deadline_us) ||
        !table_->read(kColIterations, parse_count, job.iterations) ||
        !table_->read(kColSlo, parse_factor_milli, job.slo_milli) ||
        !table_->read(kColWeight, parse_factor_milli, weight) ||
        !table_->read(kColAttempts, parse_count, attempts) ||
        !table_->read(kColPriority, parse_signed, priority)) {
      return false;
    }
    if (attempts.value_or(1) < 1 || attempts.value_or(1) > 0xFFFFFFFFLL) {
      table_->reject(kBadAttempts, kColAttempts);
      return false;
    }
    job.attempts = static_cast<std::uint32_t>(attempts.value_or(1));
    job.weight_milli = static_cast<std::int32_t>(weight.value_or(1000));
    job.priority = static_cast<std::int32_t>(priority.value_or(0));
    return true;
  }

  static const Fault* parse_signed(std::string_view text, MaybeInt& out) {
    if (is_missing(text)) return nullptr;
    const auto value = parse_int(text);
    if (!value || *value != static_cast<std::int32_t>(*value)) return &kBadPriority;
    out = *value;
    return nullptr;
  }

  bool words(TraceJob& job) {
    const std::string_view kind = (*table_)[kColGpuKind];
    job.mig_slice = kind == kGpuKindMig;
    job.shards = kind == kGpuKindShard;
    if (!kind.empty() && !job.mig_slice && !job.shards) {
      table_->reject(kBadKind, kColGpuKind);
      return false;
    }
    job.status = parse_status((*table_)[kColStatus]);
    if (job.status == EndStatus::kUnknown && !table_->text(kColStatus).empty()) {
      table_->warn(kBadStatus, kColStatus);
    }
    job.user = trace_->users.index_of(text((*table_)[kColUser]));
    job.vc = trace_->vcs.index_of(text((*table_)[kColVc]));
    job.model = trace_->models.index_of(text((*table_)[kColModel]));
    job.gpu_types = trace_->gpu_types.index_of(text((*table_)[kColGpuType]));
    return true;
  }

  std::string_view text(std::string_view field) { return unescape(field, scratch_); }

  Trace* trace_;
  RejectReport* report_;
  Table* table_;
  Collector jobs_;
  MaybeInt offset_us_;  // submitted_utc - arrival_s, of the first row that has both
  std::string scratch_;
  std::string generated_;
};

Status read(ReadContext& context) {
  BERTH_TRY(Table table, Table::open(*context.input, context.report, kBerthSpec));
  if (!table.has(kColArrival) && !table.has(kColSubmitted)) {
    return fail(context.input->error(context.input->line_number(), "arrival_s",
                                     "a column is missing", "neither",
                                     "'arrival_s' or 'submitted_utc'"));
  }
  BerthReader reader(context, table);
  while (table.next()) reader.row();
  reader.finish();
  return {};
}

}  // namespace

const Reader kBerthReader{
    .name = "berth", .title = "Berth's own format", .detect = detect, .read = read};

}  // namespace berth::trace
