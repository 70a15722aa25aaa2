// Gavel (OSDI'20) and its descendants: one job a line, tab-separated, no header. Which columns
// there are follows from their number, and every line must have as many as the first.
#include <algorithm>
#include <array>
#include <span>

#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/line_fields.h"

namespace berth::trace {
namespace {

enum class Field : std::uint8_t {
  kJobType,
  kCommand,
  kFolder,
  kStepsFlag,
  kNeedsData,
  kSteps,
  kGpus,
  kMode,
  kWeight,
  kSlo,
  kDuration,
  kArrival
};

using enum Field;
// The first public traces; Gavel's later ones without and with a working directory; Shockwave's.
constexpr std::array kLayout7{kJobType, kCommand, kStepsFlag, kNeedsData, kSteps, kArrival, kGpus};
constexpr std::array kLayout9{kJobType, kCommand, kStepsFlag, kNeedsData, kSteps,
                              kGpus,    kWeight,  kSlo,       kArrival};
constexpr std::array kLayout10{kJobType, kCommand, kFolder, kStepsFlag, kNeedsData,
                               kSteps,   kGpus,    kWeight, kSlo,       kArrival};
constexpr std::array kLayout12{kJobType, kCommand, kFolder, kStepsFlag, kNeedsData, kSteps,
                               kGpus,    kMode,    kWeight, kSlo,       kDuration,  kArrival};

std::span<const Field> layout_of(std::size_t columns) {
  switch (columns) {
    case kLayout7.size():
      return kLayout7;
    case kLayout9.size():
      return kLayout9;
    case kLayout10.size():
      return kLayout10;
    case kLayout12.size():
      return kLayout12;
    default:
      return {};
  }
}

constexpr Fault kNotABit{"not 0 or 1", "0 or 1"};

const Fault* parse_bit(std::string_view text, MaybeInt& out) {
  constexpr std::array<std::string_view, 6> kBits{"0", "1", "True", "False", "true", "false"};
  if (std::find(kBits.begin(), kBits.end(), text) == kBits.end()) return &kNotABit;
  out = text == "1" || text == "True" || text == "true" ? 1 : 0;
  return nullptr;
}

// A negative factor is Gavel's word for "no deadline".
const Fault* parse_slo(std::string_view text, MaybeInt& out) {
  const auto number = parse_number(text);
  return number && *number < 0 ? nullptr : parse_factor_milli(text, out);
}

const Fault* parse_gang(std::string_view text, MaybeInt& out) {
  MaybeInt gpus;
  const Fault* fault = parse_count(text, gpus);
  if (fault != nullptr || !gpus.known()) return fault;
  return parse_gpus(text, out);
}

class GavelReader {
 public:
  GavelReader(ReadContext& context, std::span<const Field> layout)
      : trace_(&context.trace),
        layout_(layout),
        jobs_(context.trace, context.report, context.input) {}

  void row(LineFields& fields, std::uint64_t index, std::uint64_t line) {
    TraceJob job;
    MaybeInt arrival;
    MaybeInt weight;
    MaybeInt needs_data;
    if (!fields.read(at(kNeedsData), "needs_data_dir", parse_bit, needs_data) ||
        !fields.read_required(at(kSteps), "total_steps", parse_count, job.iterations) ||
        !fields.read_required(at(kGpus), "scale_factor", parse_gang, job.gpu_milli) ||
        !fields.read_required(at(kArrival), "arrival_time", parse_arrival_s, arrival) ||
        !read_optional(fields, kWeight, "priority_weight", parse_factor_milli, weight) ||
        !read_optional(fields, kSlo, "SLO", parse_slo, job.slo_milli) ||
        !read_optional(fields, kDuration, "duration", parse_duration_s, job.duration_us)) {
      return;
    }
    job.arrival_us = arrival.value();
    job.weight_milli = static_cast<std::int32_t>(weight.value_or(1000));
    job.model = trace_->models.index_of(fields[at(kJobType)]);
    job.name = trace_->strings.keep(fields[at(kCommand)]);
    jobs_.add(job, fmt::format("{}", index), line);
  }

 private:
  [[nodiscard]] std::size_t at(Field field) const {
    return static_cast<std::size_t>(std::find(layout_.begin(), layout_.end(), field) -
                                    layout_.begin());
  }
  [[nodiscard]] bool read_optional(LineFields& fields, Field field, std::string_view name,
                                   Parser parser, MaybeInt& out) const {
    return at(field) == layout_.size() || fields.read(at(field), name, parser, out);
  }

  Trace* trace_;
  std::span<const Field> layout_;
  Collector jobs_;
};

int detect(const Probe& probe) {
  std::string_view head = probe.head;
  while (head.starts_with('\n') || head.starts_with('\r')) head.remove_prefix(1);
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto tabs = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
  const auto layout = layout_of(tabs + 1);
  if (layout.empty()) return 0;
  RejectReport unused;
  LineFields fields(unused);
  fields.split_at(line, '\t', 1);
  const auto steps = std::find(layout.begin(), layout.end(), kSteps) - layout.begin();
  return parse_number(fields[static_cast<std::size_t>(steps)]) ? 90 : 50;
}

Status read(ReadContext& context) {
  LineFields fields(context.report);
  std::string_view line;
  std::uint64_t rows = 0;
  std::uint64_t blank_lines = 0;
  std::span<const Field> layout;
  std::optional<GavelReader> reader;
  while (context.input->next_line(line)) {
    if (trim(line).empty()) {
      ++blank_lines;
      continue;
    }
    const std::uint64_t number = context.input->line_number();
    fields.split_at(line, '\t', number);
    if (!reader) {
      layout = layout_of(fields.size());
      if (layout.empty()) {
        return fail(context.input->error(number, "columns", "the number of fields is wrong",
                                         fmt::format("{}", fields.size()),
                                         "7, 9, 10 or 12 fields separated by tabs"));
      }
      reader.emplace(context, layout);
    }
    if (fields.size() == layout.size()) {
      reader->row(fields, rows, number);
    } else {
      fields.reject_count(layout.size());
    }
    ++rows;
  }
  if (blank_lines > 0) context.report.count("blank lines", blank_lines);
  return {};
}

}  // namespace

const Reader kGavelReader{
    .name = "gavel", .title = "Gavel, one job a line", .detect = detect, .read = read};

}  // namespace berth::trace
