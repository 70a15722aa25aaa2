// Microsoft Philly (ATC'19), cluster_job_log: every job with its scheduling attempts.
//
// The run time is the sum of the attempts that have a start and an end; the GPUs are those of the
// widest of them. The log has local times without an offset.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "base/datetime.h"
#include "base/number.h"
#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/json_records.h"
#include "trace/table.h"
#include "trace/values.h"

namespace berth::trace {
namespace {

namespace dom = simdjson::dom;

constexpr Fault kNotText{"not a text", "a text"};
constexpr Fault kNoAttempts{"no attempts", "at least one: GPUs and run time are unknown"};
constexpr Fault kNotAttempts{"attempts are damaged", "a list of objects"};
constexpr Fault kNoWholeAttempt{"no whole attempt", "one with a start and an end"};
constexpr Fault kStillRunning{"still running", "an end of the last attempt"};
constexpr Fault kEndBeforeStart{"end before start", "an end after the start"};
constexpr Fault kClockBack{"clock went back during an attempt", "an hour is added"};
constexpr Fault kTooLong{"out of range", "at most 100 years"};
constexpr Fault kNoGpus{"GPUs unknown", "a list of GPUs in a whole attempt"};
constexpr Fault kOtherGpus{"attempts with different GPU counts", "one number; the largest is used"};
constexpr Fault kStartBeforeSubmit{"start before submission", "a later start; the wait is unknown"};
constexpr Fault kUnknownStatus{"unknown status", "Pass, Killed or Failed; taken as unknown"};
constexpr Fault kSmallerMachine{"more GPUs than the machine list has",
                                "the list's number; used as it is"};
constexpr Fault kNotUtf8{"not UTF-8", "UTF-8 text"};
constexpr Fault kNotAnObject{"not an object", "an object for each job"};
constexpr Fault kBadValue{"a value that JSON does not have", "texts and numbers of JSON"};

struct Attempt {
  MaybeInt start;
  MaybeInt end;
  MaybeInt gpus;  // unknown without a list
  std::int64_t machines = 0;
};

// US clocks go back from 02:00 to 01:00 on the first Sunday of November: an attempt that ends in
// that hour can seem to end before it starts.
bool in_the_doubled_hour(TimeUs start, TimeUs end) {
  constexpr std::int64_t kThursday = 4;  // 1970-01-01, counted from Sunday
  const std::int64_t day = end / kUsPerDay;
  if ((day + kThursday) % 7 != 0) return false;
  const std::string date = format_utc(end);
  const bool first_week_of_november = date.substr(5, 4) == "11-0" && date[9] <= '7';
  const TimeUs clock = end % kUsPerDay;
  return first_week_of_november && clock >= kUsPerHour && clock < 2 * kUsPerHour &&
         start - end < kUsPerHour;
}

using MachineList = std::map<std::string, std::int64_t, std::less<>>;  // GPUs by name

// Why a record whose braces match cannot be used, although the list goes on behind it; nullptr:
// the file is not JSON.
const Fault* fault_of(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return &kNotUtf8;
    case simdjson::INCORRECT_TYPE:
      return &kNotAnObject;
    case simdjson::STRING_ERROR:     // half a pair of surrogates, an unknown escape
    case simdjson::UNESCAPED_CHARS:  // a line end within a text
    case simdjson::NUMBER_ERROR:     // 1e999
      return &kBadValue;
    default:
      return nullptr;
  }
}

// Reads one job; every way to fail is reported once.
class Job {
 public:
  Job(dom::object record, RejectReport& report, const MachineList& machines, std::uint64_t line)
      : record_(record), report_(&report), machines_(&machines), line_(line) {}

  bool read(TraceJob& job) {
    MaybeInt submitted;
    if (!instant(record_, "submitted_time", submitted)) return false;
    if (!submitted.known()) return reject(kMissing, "submitted_time", {});
    job.arrival_us = submitted.value();
    if (!read_attempts() || !run_time(job) || !gpus(job)) return false;
    const TimeUs start = whole_.front().start.value();
    const TimeUs wait_us = start - submitted.value();
    if (wait_us > kMaxDurationUs) return reject(kTooLong, "start_time", format_utc(start));
    if (wait_us >= 0) {
      job.queue_us = wait_us;
    } else {
      warn(kStartBeforeSubmit, "start_time", format_utc(start));
    }
    const std::string_view status = text("status");
    job.status = parse_status(status);
    if (job.status == EndStatus::kUnknown) warn(kUnknownStatus, "status", status);
    return true;
  }

  // The text of a key; "" if it is not there or no text. A number is taken as it is written.
  std::string_view text(std::string_view key) {
    dom::element value;
    if (record_[key].get(value) != simdjson::SUCCESS) return {};
    std::string_view out;
    if (value.get(out) == simdjson::SUCCESS) return is_missing(trim(out)) ? "" : trim(out);
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) return {};
    number_ = fmt::format("{}", number);
    return number_;
  }

  bool reject(const Fault& fault, std::string_view field, std::string_view found) {
    report_->reject(note(fault, field, found));
    return false;
  }

 private:
  bool instant(dom::object object, std::string_view key, MaybeInt& out) {
    dom::element value;
    if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return true;
    std::string_view written;
    if (value.get(written) != simdjson::SUCCESS) return reject(kNotText, key, {});
    const Fault* fault = parse_instant(trim(written), out);
    return fault == nullptr || reject(*fault, key, written);
  }

  bool read_attempts() {
    dom::element value;
    if (record_["attempts"].get(value) != simdjson::SUCCESS || value.is_null()) {
      return reject(kNoAttempts, "attempts", {});
    }
    dom::array attempts;
    if (value.get(attempts) != simdjson::SUCCESS) return reject(kNotAttempts, "attempts", {});
    for (const dom::element element : attempts) {
      dom::object object;
      if (element.get(object) != simdjson::SUCCESS) return reject(kNotAttempts, "attempts", {});
      Attempt attempt;
      if (!instant(object, "start_time", attempt.start) ||
          !instant(object, "end_time", attempt.end)) {
        return false;
      }
      count_gpus(object, attempt);
      if (!add(attempt)) return false;
      last_ = attempt;
    }
    if (!last_) return reject(kNoAttempts, "attempts", "an empty list");
    if (last_->start.known() && !last_->end.known()) {
      return reject(kStillRunning, "end_time", {});
    }
    if (whole_.empty()) return reject(kNoWholeAttempt, "attempts", {});
    if (incomplete_ > 0) report_->count("incomplete attempts", incomplete_);
    return true;
  }

  bool add(Attempt& attempt) {
    if (!attempt.start.known() || !attempt.end.known()) {
      ++incomplete_;
      return true;
    }
    const TimeUs start = attempt.start.value();
    const TimeUs end = attempt.end.value();
    if (end < start && in_the_doubled_hour(start, end)) {
      warn(kClockBack, "end_time", format_utc(end));
      attempt.end = end + kUsPerHour;
    } else if (end < start) {
      return reject(kEndBeforeStart, "end_time", format_utc(end));
    }
    whole_.push_back(attempt);
    return true;
  }

  void count_gpus(dom::object object, Attempt& attempt) {
    dom::array machines;
    if (object["detail"].get(machines) != simdjson::SUCCESS) return;
    for (const dom::element element : machines) {
      dom::array gpus;
      if (element["gpus"].get(gpus) != simdjson::SUCCESS) continue;
      const auto count = static_cast<std::int64_t>(gpus.size());
      ++attempt.machines;
      attempt.gpus = attempt.gpus.value_or(0) + count;
      check_machine(element, count);
    }
  }

  void check_machine(dom::element detail, std::int64_t gpus) {
    std::string_view name;
    if (machines_->empty() || detail["ip"].get(name) != simdjson::SUCCESS) return;
    const auto listed = machines_->find(name);
    if (listed == machines_->end() || listed->second >= gpus) return;
    warn(kSmallerMachine, "detail", fmt::format("{} on {} of {}", gpus, name, listed->second));
  }

  bool run_time(TraceJob& job) {
    TimeUs sum = 0;
    for (const Attempt& attempt : whole_) {
      sum += attempt.end.value() - attempt.start.value();
      if (sum > kMaxDurationUs) {
        return reject(kTooLong, "end_time", format_utc(attempt.end.value()));
      }
    }
    job.duration_us = sum;
    job.attempts = static_cast<std::uint32_t>(whole_.size());
    return true;
  }

  bool gpus(TraceJob& job) {
    const Attempt* widest = nullptr;
    bool different = false;
    for (const Attempt& attempt : whole_) {
      if (!attempt.gpus.known()) continue;
      different |= widest != nullptr && widest->gpus != attempt.gpus;
      if (widest == nullptr || attempt.gpus.value() > widest->gpus.value()) widest = &attempt;
    }
    if (widest == nullptr) return reject(kNoGpus, "detail", {});
    if (different) warn(kOtherGpus, "detail", fmt::format("{}", widest->gpus.value()));
    job.gpu_milli = widest->gpus.value() * 1000;
    job.nodes = widest->machines;
    return true;
  }

  void warn(const Fault& fault, std::string_view field, std::string_view found) {
    report_->warn(note(fault, field, found));
  }
  [[nodiscard]] RowNote note(const Fault& fault, std::string_view field,
                             std::string_view found) const {
    return {.line = line_,
            .file = {},
            .reason = std::string(fault.reason),
            .field = std::string(field),
            .found = found.empty() ? "nothing" : fmt::format("'{}'", printable(found)),
            .expected = std::string(fault.expected)};
  }

  dom::object record_;
  RejectReport* report_;
  const MachineList* machines_;
  std::uint64_t line_;
  std::vector<Attempt> whole_;
  std::optional<Attempt> last_;
  std::uint64_t incomplete_ = 0;
  std::string number_;
};

// Python writes NaN and Infinity, which are not JSON: they become null. Empty if there are none.
std::string without_nan(std::string_view object) {
  std::string out;
  std::size_t copied = 0;
  bool text = false;
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (object[i] == '\\' && text) {
      ++i;
    } else if (object[i] == '"') {
      text = !text;
    } else if (!text) {
      for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
        if (!object.substr(i).starts_with(word)) continue;
        out.append(object.substr(copied, i - copied)).append("null");
        copied = i + word.size();
        i = copied - 1;
        break;
      }
    }
  }
  if (copied == 0) return {};
  return out.append(object.substr(copied));
}

class PhillyJsonReader {
 public:
  PhillyJsonReader(ReadContext& context, const Input& input, MachineList machines)
      : context_(&context),
        input_(&input),
        machines_(std::move(machines)),
        jobs_(context.trace, context.report, context.input) {}

  // Errors: an object that is not JSON.
  Status record(std::string_view text, std::uint64_t line) {
    dom::element root;
    auto code = parser_.parse(text.data(), text.size(), false).get(root);
    if (code != simdjson::SUCCESS) {
      mended_ = without_nan(text);
      if (!mended_.empty()) code = parser_.parse(mended_).get(root);
    }
    dom::object object;
    if (code == simdjson::SUCCESS) code = root.get(object);
    if (const Fault* fault = fault_of(code)) {
      Job(object, context_->report, machines_, line).reject(*fault, {}, text.substr(0, 60));
      return {};
    }
    if (code != simdjson::SUCCESS) {
      return fail(input_->error(line, "JSON", simdjson::error_message(code),
                                fmt::format("'{}'", printable(text, 60)),
                                "one JSON object for each job"));
    }
    any_object_ = true;
    Job reader(object, context_->report, machines_, line);
    add(reader, line);
    return {};
  }

  // Errors: objects of something else, or none that is whole.
  Status finish() const {
    if (any_id_ || context_->report.rejected() == 0) return {};
    if (!any_object_) {
      const RowNote& first = context_->report.rejected_notes().front();
      return fail(input_->error(first.line, "JSON", first.reason, first.found, first.expected));
    }
    return fail(input_->error(1, "jobid", "no object has this key", "other objects",
                              "a list of objects with jobid, submitted_time and attempts"));
  }

 private:
  void add(Job& reader, std::uint64_t line) {
    const std::string id(reader.text("jobid"));
    if (id.empty()) {
      reader.reject(kMissing, "jobid", {});
      return;
    }
    any_id_ = true;
    TraceJob job;
    if (!reader.read(job)) return;
    job.user = context_->trace.users.index_of(reader.text("user"));
    job.vc = context_->trace.vcs.index_of(reader.text("vc"));
    jobs_.add(job, id, line);
  }

  ReadContext* context_;
  const Input* input_;
  MachineList machines_;
  Collector jobs_;
  dom::parser parser_;
  std::string mended_;
  bool any_object_ = false;  // that is whole
  bool any_id_ = false;      // among them
};

// The log and, beside it, the machine list of the published trace; "" for what is not there.
struct Folder {
  std::string log;
  std::string machines;
};

Folder look_into(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const auto pick = [&](auto fits) {
    const auto found = std::find_if(names.begin(), names.end(), fits);
    return found == names.end() ? std::string{} : (fs::path(path) / *found).string();
  };
  const auto contains = [](std::string_view part) {
    return [part](const std::string& name) { return name.find(part) != std::string::npos; };
  };
  Folder folder{pick(contains("cluster_job_log")), pick(contains("machine_list"))};
  if (folder.log.empty()) folder.log = pick(contains(".json"));
  return folder;
}

Result<MachineList> read_machines(const std::string& path, RejectReport& report) {
  enum Column : std::size_t { kName, kCount };
  constexpr static std::array<ColumnSpec, 2> kColumns{
      {{"machineId", true, ""}, {"number of GPUs", true, ""}}};
  constexpr static TableSpec kSpec{.format = "machine list", .columns = kColumns};
  MachineList machines;
  if (path.empty()) return machines;
  BERTH_TRY(Input input, Input::open(path));
  BERTH_TRY(Table table, Table::open(input, report, kSpec));
  while (table.next()) {
    MaybeInt gpus;
    if (!table.require(kName) || !table.read_required(kCount, parse_count, gpus)) continue;
    machines.emplace(table[kName], gpus.value());
  }
  BERTH_CHECK_OK(input.status());
  return machines;
}

int detect(const Probe& probe) {
  if (probe.folder) return look_into(probe.path).log.empty() ? 0 : 60;
  const std::string_view head = trim(probe.head);
  if (!head.starts_with('[') && !head.starts_with('{')) return 0;
  const auto has = [head](std::string_view key) {
    return head.find(key) != std::string_view::npos;
  };
  if (has("\"jobid\"") || has("\"attempts\"")) return 95;
  return head.starts_with('[') || has("\"submitted_time\"") ? 45 : 10;
}

Status read_log(ReadContext& context, Input& input, MachineList machines) {
  context.trace.zero_is_unix_time = true;
  JsonRecords records(input);
  PhillyJsonReader reader(context, input, std::move(machines));
  std::string_view text;
  while (records.next(text)) BERTH_CHECK_OK(reader.record(text, records.line()));
  BERTH_CHECK_OK(records.status());
  return reader.finish();
}

Status read(ReadContext& context) {
  if (context.input != nullptr) return read_log(context, *context.input, {});
  const Folder folder = look_into(context.path);
  if (folder.log.empty()) {
    return fail(bad_input(context.path, 0, {}, "there is no job log in this folder", "other files",
                          "a file cluster_job_log or *.json"));
  }
  BERTH_TRY(MachineList machines, read_machines(folder.machines, context.report));
  BERTH_TRY(Input input, Input::open(folder.log));
  const Status status = read_log(context, input, std::move(machines));
  if (!input.status()) return fail(input.status().error());
  return status;
}

}  // namespace

const Reader kPhillyJsonReader{.name = "philly-json",
                               .title = "Microsoft Philly, cluster_job_log",
                               .detect = detect,
                               .read = read,
                               .reads_folders = true};

}  // namespace berth::trace
