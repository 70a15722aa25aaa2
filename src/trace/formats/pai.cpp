// Alibaba's PAI tables (cluster-trace-gpu-v2020): jobs in one file, their tasks in another, the
// column names of each in a .header file beside it. The folder or either table may be named.
//
// A job arrives at the start_time of its row in the job table (its submission), and runs from the
// first start to the last end of its tasks. Its GPUs are those of all instances of all tasks;
// plan_gpu is in hundredths of a GPU, plan_cpu in hundredths of a core, plan_mem in GiB.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/number.h"
#include "trace/collector.h"
#include "trace/folder.h"
#include "trace/formats/pai_tables.h"
#include "trace/formats/readers.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

namespace fs = std::filesystem;

enum JobColumn : std::size_t { kJobName, kJobUser, kJobStatus, kJobStart, kJobEnd, kJobInst };
constexpr std::array<ColumnSpec, 6> kJobColumns{{
    {"job_name", true, ""},
    {"user", false, ""},
    {"status", false, ""},
    {"start_time", true, ""},
    {"end_time", false, ""},
    {"inst_id", false, ""},
}};
constexpr TableSpec kJobTable{.format = "pai", .columns = kJobColumns};

enum TaskColumn : std::size_t {
  kTaskJob,
  kTaskName,
  kInstances,
  kTaskStatus,
  kTaskStart,
  kTaskEnd,
  kPlanCpu,
  kPlanMemory,
  kPlanGpu,
  kGpuType
};
constexpr std::array<ColumnSpec, 10> kTaskColumns{{
    {"job_name", true, ""},
    {"task_name", false, ""},
    {"inst_num", true, ""},
    {"status", false, ""},
    {"start_time", true, ""},
    {"end_time", true, ""},
    {"plan_cpu", false, ""},
    {"plan_mem", false, ""},
    {"plan_gpu", true, ""},
    {"gpu_type", false, ""},
}};
constexpr TableSpec kTaskTable{.format = "pai", .columns = kTaskColumns};

constexpr Fault kNeverStarted{"never started", "a job with a task that ran"};
constexpr Fault kStillRunning{"still running", "an end_time"};
constexpr Fault kNoStart{"start time unknown", "a start_time above 0"};
constexpr Fault kEndBeforeStart{"end before start", "an end_time after the start_time"};
constexpr Fault kNoTasks{"no task row", "a row in the task table"};
constexpr Fault kNoJobRow{"no job row", "a row in the job table"};
constexpr Fault kBadTask{"a task of the job was rejected", "all tasks"};
constexpr Fault kShareTooFine{"finer than a thousandth of a GPU", "a plan_gpu of whole tenths"};
constexpr Fault kRange{"out of range", "a smaller number"};
constexpr Fault kWaitTooLong{"first task long after submission",
                             "at most 100 years later; the wait is unknown"};
constexpr Fault kInstanceRange{"out of range", "1 to 1000000 instances"};
constexpr Fault kTaskTwice{"a task is there twice", "each task of a job once; the first is used"};

// What the tasks of one job come to.
struct TaskSum {
  MaybeInt first_start_us;
  MaybeInt last_end_us;
  MaybeInt gpu_milli;
  MaybeInt cpu_milli;
  MaybeInt memory_mib;
  std::string gpu_types;
  std::uint64_t number = 0;      // of the job
  const Fault* fault = nullptr;  // why the job cannot be used
  std::uint64_t line = 0;        // of its first task
  bool used = false;             // by a row of the job table
};

// One of the two tables, and where its column names are.
struct TableFile {
  std::string path;
  std::optional<std::string> header;
};

std::string without_compression(std::string path) {
  for (const std::string_view suffix : {".gz", ".xz", ".zst"}) {
    if (path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  }
  return path;
}

// "x.csv.gz" to "x": what a table and its .header share.
std::string stem(const std::string& path) {
  std::string out = without_compression(path);
  for (const std::string_view suffix : {".csv", ".header"}) {
    if (out.ends_with(suffix)) out.resize(out.size() - suffix.size());
  }
  return out;
}

Result<TableFile> find_table(const std::vector<std::string>& files, std::string_view name,
                             const std::string& folder) {
  TableFile table;
  for (const std::string& path : files) {
    if (fs::path(stem(path)).filename() != name) continue;
    if (without_compression(path).ends_with(".header")) {
      BERTH_TRY(Input input, Input::open(path));
      std::string_view line;
      if (!input.next_line(line)) {
        return fail(bad_input(path, 1, "header", "column names are missing", "nothing"));
      }
      table.header = std::string(line);
    } else if (without_compression(path).ends_with(".csv")) {
      table.path = path;
    }
  }
  if (!table.path.empty()) return table;
  return fail(bad_input(folder, 0, std::string(name), "a table is missing", "no such file",
                        fmt::format("{0}.csv, with {0}.header beside it", name)));
}

std::string folder_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

bool is_pai_file(const std::string& path) {
  const std::string name = fs::path(stem(path)).filename().string();
  return name == "pai_job_table" || name == "pai_task_table";
}

int detect(const Probe& probe) {
  if (!probe.folder) return is_pai_file(probe.path) ? 95 : 0;
  const auto files = files_in(probe.path);
  return std::ranges::any_of(files, is_pai_file) ? 95 : 0;
}

// Hundredths, exactly, to thousandths; missing: none was planned.
const Fault* parse_hundredths_milli(std::string_view text, MaybeInt& out) {
  const Fault* fault = parse_count_milli(text, out);
  if (fault != nullptr || !out.known()) return fault;
  if (out.value() % 100 != 0) return &kShareTooFine;
  out = out.value() / 100;
  return nullptr;
}

const Fault* parse_cpu(std::string_view text, MaybeInt& out) {
  const Fault* fault = parse_count_milli(text, out);
  if (fault == nullptr && out.known()) out = out.value() / 100;
  return fault;
}

const Fault* parse_gib(std::string_view text, MaybeInt& out) {
  const Fault* fault = parse_count_milli(text, out);
  if (fault != nullptr || !out.known()) return fault;
  if (out.value() > kMaxCount) return &kRange;
  out = out.value() * 1024 / 1000;
  return nullptr;
}

const Fault* parse_instances(std::string_view text, MaybeInt& out) {
  const Fault* fault = parse_count(text, out);
  if (fault != nullptr) return fault;
  const std::int64_t instances = out.value_or(0);
  return instances < 1 || instances > 1'000'000 ? &kInstanceRange : nullptr;
}

// 0 stands for "unknown" in these tables.
bool known_time(MaybeInt time) {
  return time.known() && time.value() != 0;
}

bool is_waiting(std::string_view status) {
  return status == "Waiting" || status == "Ready" || status == "Init";
}

class PaiReader {
 public:
  explicit PaiReader(ReadContext& context)
      : context_(&context), jobs_(context.trace, context.report, context.input) {}

  Status read(const PaiTable& jobs, const PaiTable& tasks) {
    BERTH_CHECK_OK(read_table(tasks, kTaskTable, [this](Table& table) { add_task(table); }));
    BERTH_CHECK_OK(read_table(jobs, kJobTable, [this](Table& table) { add_job(table); }));
    reject_tasks_without_job(tasks.input->name());
    return {};
  }

 private:
  template <class Row>
  Status read_table(const PaiTable& file, const TableSpec& spec, const Row& row) {
    BERTH_TRY(Table table,
              file.header ? Table::with_header(*file.input, context_->report, spec, *file.header)
                          : Table::open(*file.input, context_->report, spec));
    file_ = file.input->name();
    while (table.next()) row(table);
    return {};
  }

  void reject(Table& table, const Fault& fault, std::size_t column) {
    RowNote note = table.note(fault, column);
    note.file = file_;
    context_->report.reject(std::move(note));
  }

  TaskSum& sum_of(std::string_view job) {
    const auto found = sums_.find(job);
    if (found != sums_.end()) return found->second;
    TaskSum& sum = sums_[context_->trace.strings.keep(job)];
    sum.number = sums_.size();
    return sum;
  }

  // A task that cannot be used spoils its job, which is then rejected once.
  void add_task(Table& table) {
    if (!table.require(kTaskJob)) return;
    TaskSum& sum = sum_of(table[kTaskJob]);
    if (sum.line == 0) sum.line = table.line();
    if (is_known_task(sum, table[kTaskName])) {
      return reject(table, kTaskTwice, kTaskName);
    }
    const Fault* fault = read_task(table, sum);
    if (fault != nullptr && (sum.fault == nullptr || sum.fault == &kNeverStarted)) {
      sum.fault = fault;
    }
  }

  const Fault* read_task(Table& table, TaskSum& sum) {
    MaybeInt instances;
    MaybeInt start;
    MaybeInt end;
    MaybeInt gpu;
    MaybeInt cpu;
    MaybeInt memory;
    struct Value {
      TaskColumn column;
      Parser parser;
      MaybeInt* out;
    };
    for (const auto& [column, parser, out] :
         {Value{kInstances, parse_instances, &instances},
          Value{kTaskStart, parse_arrival_s, &start}, Value{kTaskEnd, parse_arrival_s, &end},
          Value{kPlanGpu, parse_hundredths_milli, &gpu}, Value{kPlanCpu, parse_cpu, &cpu},
          Value{kPlanMemory, parse_gib, &memory}}) {
      const Fault* fault = parser(table[column], *out);
      if (fault == nullptr) continue;
      warn(table, *fault, column);
      return &kBadTask;
    }
    const std::string_view status = table[kTaskStatus];
    if (is_waiting(status)) return &kNeverStarted;
    if (status == "Running" || (known_time(start) && !known_time(end))) return &kStillRunning;
    if (!known_time(start)) return &kNoStart;
    if (end.value() < start.value()) return &kEndBeforeStart;
    add_times(sum, start, end);
    add_demand(sum.gpu_milli, instances.value(), gpu.value_or(0));
    add_demand(sum.cpu_milli, instances.value(), cpu.value_or(0));
    add_demand(sum.memory_mib, instances.value(), memory.value_or(0));
    add_type(sum, table.text(kGpuType), gpu.value_or(0));
    const bool too_much = sum.gpu_milli.value() > kMaxCount * 1000 ||
                          sum.cpu_milli.value() > kMaxCount * 1000 ||
                          sum.memory_mib.value() > kMaxCount;
    return too_much ? &kRange : nullptr;
  }

  void warn(Table& table, const Fault& fault, std::size_t column) {
    RowNote note = table.note(fault, column);
    note.file = file_;
    context_->report.warn(std::move(note));
  }

  // Rows are joined by hand now and then; a task counted twice would double the job's GPUs.
  bool is_known_task(const TaskSum& sum, std::string_view task) {
    if (task.empty()) return false;
    const std::uint64_t name = task_names_.index_of(task);
    return !tasks_.insert(sum.number << 32U | name).second;
  }

  static void add_times(TaskSum& sum, MaybeInt start, MaybeInt end) {
    sum.first_start_us = std::min(sum.first_start_us.value_or(start.value()), start.value());
    sum.last_end_us = std::max(sum.last_end_us.value_or(end.value()), end.value());
  }

  // Sums stop far above what is accepted, and far below an overflow.
  static void add_demand(MaybeInt& sum, std::int64_t instances, std::int64_t each) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60U;
    const std::int64_t more = each > kMost / instances ? kMost : instances * each;
    sum = std::min(kMost, sum.value_or(0) + more);
  }

  // MISC stands for several kinds: no type.
  void add_type(TaskSum& sum, std::string_view type, std::int64_t gpu_milli) {
    if (gpu_milli == 0 || type.empty() || type == "MISC" || type == "CPU") return;
    const std::uint64_t name = type_names_.index_of(type);
    if (!types_.insert(sum.number << 32U | name).second) return;
    if (!sum.gpu_types.empty()) sum.gpu_types += '|';
    sum.gpu_types += type;
  }

  void add_job(Table& table) {
    MaybeInt submitted;
    const std::string_view name = table[kJobName];
    if (!table.require(kJobName)) return;
    const auto found = sums_.find(name);
    if (found != sums_.end()) found->second.used = true;
    if (!table.read(kJobStart, parse_arrival_s, submitted)) return;
    const std::string_view status = table[kJobStatus];
    if (is_waiting(status)) return reject(table, kNeverStarted, kJobStatus);
    if (status == "Running") return reject(table, kStillRunning, kJobStatus);
    if (found == sums_.end()) return reject(table, kNoTasks, kJobName);
    const TaskSum& sum = found->second;
    if (sum.fault != nullptr) return reject(table, *sum.fault, kJobName);
    if (!submitted.known()) submitted = sum.first_start_us;
    TraceJob job;
    job.arrival_us = std::min(submitted.value(), sum.first_start_us.value());
    job.duration_us = sum.last_end_us.value() - sum.first_start_us.value();
    if (job.duration_us.value() > kMaxDurationUs) return reject(table, kRange, kJobName);
    const TimeUs wait_us = sum.first_start_us.value() - job.arrival_us;
    if (wait_us <= kMaxDurationUs) {
      job.queue_us = wait_us;
    } else {
      warn(table, kWaitTooLong, kJobStart);
    }
    job.gpu_milli = sum.gpu_milli;
    job.cpu_milli = sum.cpu_milli;
    job.memory_mib = sum.memory_mib;
    job.gpu_types = context_->trace.gpu_types.index_of(sum.gpu_types);
    job.user = context_->trace.users.index_of(table[kJobUser]);
    job.status = status == "Terminated" ? EndStatus::kCompleted : parse_status(status);
    jobs_.add(job, name, table.line());
  }

  void reject_tasks_without_job(const std::string& path) {
    std::vector<std::pair<std::uint64_t, std::string_view>> alone;
    for (const auto& [name, sum] : sums_) {
      if (!sum.used) alone.emplace_back(sum.line, name);
    }
    std::ranges::sort(alone);
    for (const auto& [line, name] : alone) {
      context_->report.reject({.line = line,
                               .file = path,
                               .reason = std::string(kNoJobRow.reason),
                               .field = "job_name",
                               .found = fmt::format("'{}'", printable(name)),
                               .expected = std::string(kNoJobRow.expected)});
    }
  }

  ReadContext* context_;
  Collector jobs_;
  NameTable task_names_;
  std::unordered_set<std::uint64_t> tasks_;  // number of the job, number of the name
  NameTable type_names_;
  std::unordered_set<std::uint64_t> types_;  // likewise
  std::string file_;
  std::unordered_map<std::string_view, TaskSum> sums_;
};

Status read(ReadContext& context) {
  const std::string folder = context.input == nullptr ? context.path : folder_of(context.path);
  const auto files = files_in(folder);
  BERTH_TRY(const TableFile jobs, find_table(files, "pai_job_table", folder));
  BERTH_TRY(const TableFile tasks, find_table(files, "pai_task_table", folder));
  BERTH_TRY(Input job_input, Input::open(jobs.path));
  BERTH_TRY(Input task_input, Input::open(tasks.path));
  const Status status =
      read_pai_tables(context, {&job_input, jobs.header}, {&task_input, tasks.header});
  BERTH_CHECK_OK(job_input.status());
  BERTH_CHECK_OK(task_input.status());
  return status;
}

}  // namespace

Status read_pai_tables(ReadContext& context, const PaiTable& jobs, const PaiTable& tasks) {
  return PaiReader(context).read(jobs, tasks);
}

const Reader kPaiReader{.name = "pai",
                        .title = "Alibaba PAI 2020, job and task tables",
                        .detect = detect,
                        .read = read,
                        .reads_folders = true};

}  // namespace berth::trace
