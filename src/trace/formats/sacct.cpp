// Slurm's own history: sacct --parsable2, with whatever columns its user chose.
//
// Elapsed counts, not end minus start: local times jump when the clock is changed. A requeued job
// is one job with several attempts; a job number that was used again for another job is another
// job. The components of a heterogeneous job start together: one job. GPUs are those allocated, or
// those requested where the first are not recorded; GPU types those requested, if they are there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/huge_pages.h"
#include "base/number.h"
#include "base/random.h"
#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/slurm_values.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

enum Column : std::size_t {
  kId,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsed,
  kElapsedRaw,
  kAllocTres,
  kReqTres,
  kAllocGres,
  kState,
  kName,
  kUser,
  kAccount,
  kPartition,
  kCluster,
  kLimit,
  kLimitRaw,
  kNodes,
  kAllocNodes,
  kCpus,
  kAllocCpus,
};
constexpr std::array<ColumnSpec, 22> kColumns{{
    {"JobID", true, ""},       {"Submit", false, ""},     {"Eligible", false, ""},
    {"Start", false, ""},      {"End", false, ""},        {"Elapsed", false, ""},
    {"ElapsedRaw", false, ""}, {"AllocTRES", false, ""},  {"ReqTRES", false, ""},
    {"AllocGRES", false, ""},  {"State", false, ""},      {"JobName", false, ""},
    {"User", false, ""},       {"Account", false, ""},    {"Partition", false, ""},
    {"Cluster", false, ""},    {"Timelimit", false, ""},  {"TimelimitRaw", false, ""},
    {"NNodes", false, ""},     {"AllocNodes", false, ""}, {"NCPUS", false, ""},
    {"AllocCPUS", false, ""},
}};
constexpr std::string_view kCommand =
    "sacct -a --parsable2 --format=JobID,JobName,User,Account,State,Submit,Start,End,Elapsed,"
    "Timelimit,NNodes,NCPUS,AllocTRES";
constexpr TableSpec kSpec{.format = "sacct",
                          .columns = kColumns,
                          .separator = '|',
                          .quotes = false,
                          .no_header_hint = "run sacct --parsable2 without -n"};

constexpr Fault kNoJobId{"not a job id", "a number, as 511, 511_3, 511+1 or 511.batch"};
constexpr Fault kNeverStarted{"never started", "a job that ran"};
constexpr Fault kStillRunning{"still running", "a job that has ended"};
constexpr Fault kNoArrival{"no time of submission", "a time"};
constexpr Fault kEndBeforeStart{"end before start", "an end after the start"};
constexpr Fault kNoDuration{"no duration", "Elapsed, or Start and End"};
constexpr Fault kElapsedMismatch{"Elapsed is not End minus Start", "the same; Elapsed is used"};
constexpr Fault kStartBeforeSubmit{"start before submission", "a later start; the wait is unknown"};
constexpr Fault kWaitTooLong{"start long after submission",
                             "at most 100 years later; the wait is unknown"};
constexpr Fault kTooLong{"out of range", "an end at most 100 years after the start"};
constexpr Fault kUsedTooOften{"job number used too often", "at most 50 jobs of one number"};
constexpr Fault kUnknownState{"unknown state", "a state of Slurm; taken as unknown"};
constexpr Fault kNoGpus{"resources unknown", "AllocTRES, as cpu=8,gres/gpu=2"};
constexpr Fault kRequestUsed{"allocation not recorded", "AllocTRES; the request is used"};
constexpr Fault kShardsOnly{"shards: shares of a GPU of unknown size", "gres/gpu=N"};

// Numbers start again when a database is lost; a number that so many jobs share is none, and
// looking through all of them for each would take for ever.
constexpr int kMostUses = 50;

// Most lines are steps: where the job id comes first, they need not be taken apart.
bool is_step_line(std::string_view line) {
  const auto id = parse_slurm_job_id(trim(line.substr(0, line.find('|'))));
  return id && id->step;
}

int detect(const Probe& probe) {
  const std::string_view line = trim(header_line(probe.head, kSpec));
  if (line.find('|') == std::string_view::npos) return 0;
  if (header_score(probe.head, kSpec) >= kLeastScore) return 95;
  // With many columns (--format=ALL) few are known here; without a header it is still sacct's, so
  // that the message can say what to do.
  const std::string_view first = line.substr(0, line.find('|'));
  if (line.starts_with("JobID|") || line.find("|JobID|") != std::string_view::npos) return 95;
  return parse_slurm_job_id(first) ? kLeastScore : 0;
}

enum class Phase : std::uint8_t { kEnded, kRunning, kWaiting };

struct StateWord {
  std::string_view word;
  Phase phase;
};
// States that are not the end of a job.
constexpr std::array kStates{
    StateWord{"RUNNING", Phase::kRunning},     StateWord{"COMPLETING", Phase::kRunning},
    StateWord{"SUSPENDED", Phase::kRunning},   StateWord{"STOPPED", Phase::kRunning},
    StateWord{"SIGNALING", Phase::kRunning},   StateWord{"STAGE_OUT", Phase::kRunning},
    StateWord{"RESIZING", Phase::kRunning},    StateWord{"PENDING", Phase::kWaiting},
    StateWord{"CONFIGURING", Phase::kWaiting}, StateWord{"REQUEUE_HOLD", Phase::kWaiting},
    StateWord{"REQUEUE_FED", Phase::kWaiting}, StateWord{"RESV_DEL_HOLD", Phase::kWaiting},
    StateWord{"REVOKED", Phase::kWaiting},
};

// States that are the end of a job, or of a run of it.
constexpr std::array<std::string_view, 12> kEnds{
    "COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",  "NODE_FAIL", "OUT_OF_MEMORY",
    "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "REQUEUED", "REVOKED",   "SPECIAL_EXIT",
};

// The first word; one that was cut short is made whole.
std::string_view state_word(std::string_view state) {
  const std::size_t end = std::min(state.find_first_of(" +"), state.size());
  const std::string_view word = state.substr(0, end);
  if (end == state.size() || state[end] != '+' || word.empty()) return word;
  for (const std::string_view whole : kEnds) {
    if (whole.starts_with(word)) return whole;
  }
  for (const StateWord& whole : kStates) {
    if (whole.word.starts_with(word)) return whole.word;
  }
  return word;
}

bool is_known_end(std::string_view state) {
  return std::ranges::find(kEnds, state_word(state)) != kEnds.end();
}

Phase phase_of(std::string_view state) {
  for (const auto& [word, phase] : kStates) {
    if (word == state_word(state)) return phase;
  }
  return Phase::kEnded;
}

// Whether a job goes on after a run that ended so.
bool is_requeued(std::string_view state) {
  const std::string_view word = state_word(state);
  return word == "REQUEUED" || word == "NODE_FAIL" || word == "PREEMPTED" || word == "BOOT_FAIL" ||
         word == "SPECIAL_EXIT";
}

// What tells runs of one job from jobs that share a number. Kept for each job, in their order.
struct RunInfo {
  TimeUs submit_us = 0;       // of the last run
  TimeUs start_us = 0;        // of the last run; its submission where the start is not known
  std::uint64_t owner = 0;    // hash of cluster, user and name
  std::uint32_t cluster = 0;  // hash of its name
  bool requeued = false;      // the last run ended so
};

class SacctReader {
 public:
  SacctReader(ReadContext& context, Table& table)
      : context_(&context), table_(&table), jobs_(context.trace, context.report, context.input) {}

  void read() {
    while (table_->next()) read_row();
    steps_ += table_->skipped();
    join_components();
    if (steps_ > 0) context_->report.count("steps", steps_);
    if (recycled_ > 0) context_->report.count("job numbers used again", recycled_);
    if (requeues_ > 0) context_->report.count("requeues", requeues_);
    warn_about_times();
  }

 private:
  void read_row() {
    const auto id = parse_slurm_job_id((*table_)[kId]);
    if (!id) return table_->reject(kNoJobId, kId);
    if (id->step) {
      ++steps_;
      return;
    }
    TraceJob job;
    RunInfo run;
    if (!read_job(*id, job, run)) {
      if (id->component) incomplete_.emplace(id->group);
      return;
    }
    add(id->job, job, run);
    if (id->component) has_components_ = true;
  }

  bool reject(const Fault& fault, std::size_t column) {
    table_->reject(fault, column);
    return false;
  }

  bool read_job(const SlurmJobId& id, TraceJob& job, RunInfo& run) {
    Table& table = *table_;
    const std::string_view state = table[kState];
    if (id.waiting_array) return reject(kNeverStarted, kId);
    const Phase phase = phase_of(state);
    if (phase == Phase::kWaiting) return reject(kNeverStarted, kState);
    if (phase == Phase::kRunning) return reject(kStillRunning, kState);
    if (state.empty() && table.has(kEnd) && is_missing(table[kEnd])) {
      return reject(kStillRunning, kEnd);
    }
    MaybeInt start;
    if (!read_times(job, run, start) || !read_duration(job, start)) return false;
    if (job.duration_us.value() == 0 && never_started(state)) return reject(kNeverStarted, kState);
    if (!read_resources(job)) return false;
    if (!table.has(kLimit) || is_missing(table[kLimit])) {
      if (!table.read(kLimitRaw, parse_slurm_limit, job.time_limit_us)) return false;
    } else if (!table.read(kLimit, parse_slurm_limit, job.time_limit_us)) {
      return false;
    }
    read_names(job, run);
    run.requeued = is_requeued(state);
    job.status = parse_status(state_word(state));
    if (!is_missing(state) && !is_known_end(state)) table.warn(kUnknownState, kState);
    return true;
  }

  // A job that was cancelled while it waited has no allocation, and no start or one equal to its
  // end.
  bool never_started(std::string_view state) {
    const bool ended_by_user = state_word(state) == "CANCELLED" || state_word(state) == "DEADLINE";
    const bool no_start = table_->has(kStart) && is_missing((*table_)[kStart]);
    const bool no_allocation = table_->has(kAllocTres) && is_missing((*table_)[kAllocTres]);
    return no_start || (ended_by_user && (no_allocation || !table_->has(kAllocTres)));
  }

  bool read_times(TraceJob& job, RunInfo& run, MaybeInt& start) {
    Table& table = *table_;
    MaybeInt submit;
    if (!table.read(kSubmit, parse_slurm_time, submit) ||
        !table.read(kStart, parse_slurm_time, start)) {
      return false;
    }
    if (!submit.known() && !table.read(kEligible, parse_slurm_time, submit)) return false;
    if (!submit.known()) submit = start;
    if (!submit.known()) return reject(kNoArrival, kSubmit);
    note_time_form(table.has(kSubmit) ? table[kSubmit] : table[kStart]);
    job.arrival_us = submit.value();
    run.submit_us = submit.value();
    run.start_us = start.value_or(submit.value());
    if (!start.known()) return true;
    const TimeUs wait_us = start.value() - submit.value();
    if (wait_us < 0) {
      table.warn(kStartBeforeSubmit, kStart);
    } else if (wait_us > kMaxDurationUs) {
      table.warn(kWaitTooLong, kStart);
    } else {
      job.queue_us = wait_us;
    }
    return true;
  }

  bool read_duration(TraceJob& job, MaybeInt start) {
    Table& table = *table_;
    MaybeInt end;
    if (!table.read(kElapsed, parse_slurm_duration, job.duration_us) ||
        !table.read(kEnd, parse_slurm_time, end)) {
      return false;
    }
    if (!job.duration_us.known() && !table.read(kElapsedRaw, parse_duration_s, job.duration_us)) {
      return false;
    }
    const bool both = start.known() && end.known();
    if (!job.duration_us.known()) {
      if (table.has(kStart) && !start.known()) return reject(kNeverStarted, kStart);
      if (!both) return reject(kNoDuration, table.has(kElapsed) ? kElapsed : kEnd);
      if (end.value() < start.value()) return reject(kEndBeforeStart, kEnd);
      if (end.value() - start.value() > kMaxDurationUs) return reject(kTooLong, kEnd);
      job.duration_us = end.value() - start.value();
    } else if (both) {
      const TimeUs difference = end.value() - start.value() - job.duration_us.value();
      if (difference <= -kUsPerS || difference >= kUsPerS) table.warn(kElapsedMismatch, kElapsed);
    }
    return true;
  }

  bool read_resources(TraceJob& job) {
    Table& table = *table_;
    std::size_t column = kAllocTres;
    if (is_missing(table[column]) && !is_missing(table[kAllocGres])) column = kAllocGres;
    if (is_missing(table[column])) column = kReqTres;
    if (is_missing(table[column]))
      return reject(kNoGpus, table.has(kAllocTres) ? kAllocTres : kReqTres);
    if (column == kReqTres && table.has(kAllocTres)) table.warn(kRequestUsed, kAllocTres);
    const Fault* fault = column == kAllocGres ? parse_slurm_gres(table[column], resources_)
                                              : parse_slurm_tres(table[column], resources_);
    if (fault != nullptr) return reject(*fault, column);
    set_gpus(job, column);
    job.memory_mib = resources_.memory_mib;
    job.nodes = resources_.nodes;
    MaybeInt cpus = resources_.cpus;
    for (const std::size_t nodes : {kNodes, kAllocNodes}) {
      if (!job.nodes.known() && !table.read(nodes, parse_count, job.nodes)) return false;
    }
    for (const std::size_t count : {kCpus, kAllocCpus}) {
      if (!cpus.known() && !table.read(count, parse_count, cpus)) return false;
    }
    if (cpus.known() && cpus.value() <= kMaxCount) job.cpu_milli = cpus.value() * 1000;
    return read_requested_types(job, column);
  }

  void set_gpus(TraceJob& job, std::size_t column) {
    const std::int64_t gpus = resources_.gpus();
    job.gpu_milli = gpus * 1000;
    job.mig_slice = gpus > 0 && resources_.only_mig_slices();
    if (gpus > 0) job.gpu_types = context_->trace.gpu_types.index_of(resources_.types());
    if (gpus == 0 && resources_.shards() > 0) {
      job.gpu_milli = resources_.shards() * 1000;
      job.shards = true;
      table_->warn(kShardsOnly, column);
    }
  }

  // What the user asked for binds; that the GPUs at hand were of some type does not.
  bool read_requested_types(TraceJob& job, std::size_t used) {
    if (used == kReqTres || is_missing((*table_)[kReqTres]) || job.mig_slice) return true;
    const Fault* fault = parse_slurm_tres((*table_)[kReqTres], resources_);
    if (fault != nullptr) return reject(*fault, kReqTres);
    job.gpu_types = job.gpu_milli.value() > 0
                        ? context_->trace.gpu_types.index_of(resources_.types())
                        : NameTable::kNoName;
    return true;
  }

  void read_names(TraceJob& job, RunInfo& run) {
    Table& table = *table_;
    Trace& trace = context_->trace;
    job.name = interned(table[kName]);
    job.user = trace.users.index_of(table[kUser]);
    job.vc = trace.vcs.index_of(table.has(kAccount) ? table[kAccount] : table[kPartition]);
    run.owner = mix64(std::hash<std::string_view>{}(job.name)) ^ job.user;
    if (table.has(kCluster)) {
      const std::uint64_t cluster = std::hash<std::string_view>{}(table[kCluster]);
      run.owner ^= cluster;
      run.cluster = static_cast<std::uint32_t>(cluster);
    }
  }

  // Many jobs share a name.
  std::string_view interned(std::string_view name) {
    if (name.empty()) return {};
    const auto found = names_.find(name);
    if (found != names_.end()) return *found;
    return *names_.insert(context_->trace.strings.keep(name)).first;
  }

  void add(std::string_view id, const TraceJob& job, const RunInfo& run) {
    // The numbers of a busy cluster rarely repeat: look up first, and only then ask why.
    TraceJob* known = jobs_.find(id);
    if (known == nullptr) {
      add_new(id, job, run);
      return;
    }
    std::string next_id;
    for (int use = 2; known != nullptr; ++use) {
      RunInfo& held = runs_[static_cast<std::size_t>(known - context_->trace.jobs.data())];
      const bool duplicate = held.submit_us == run.submit_us && held.start_us == run.start_us &&
                             held.cluster == run.cluster;
      if (duplicate) break;
      if (merge(*known, held, job, run)) return;
      if (use > kMostUses) return table_->reject(kUsedTooOften, kId);
      next_id = fmt::format("{}#{}", id, use);
      known = jobs_.find(next_id);
    }
    if (known == nullptr) ++recycled_;
    add_new(known == nullptr ? std::string_view(next_id) : std::string_view(id), job, run);
  }

  void add_new(std::string_view id, const TraceJob& job, const RunInfo& run) {
    if (!jobs_.add(job, id, table_->line())) return;
    if (runs_.size() == runs_.capacity()) {
      runs_.reserve(std::max(context_->trace.jobs.capacity(), runs_.size() * 5 / 4));
      use_huge_pages(runs_);
    }
    runs_.push_back(run);
  }

  // Adds a run to its job; false if it is of another job. Rows come in any order.
  bool merge(TraceJob& job, RunInfo& held, const TraceJob& added, const RunInfo& run) {
    if (held.owner != run.owner) return false;
    const bool later = run.start_us > held.start_us;
    const bool goes_on = later ? held.requeued : run.requeued;
    // Without a new submission it is the same job, whatever its first end is called.
    if (!goes_on && held.submit_us != run.submit_us) return false;
    const std::int64_t total = job.duration_us.value() + added.duration_us.value();
    if (total > kMaxDurationUs) return false;
    // What the job waited for its first start counts; what it became, from its last run.
    const TraceJob first = added.arrival_us < job.arrival_us ? added : job;
    const std::string_view id = job.id;
    const std::uint32_t attempts = job.attempts + 1;
    if (later) {
      job = added;
      held = run;
    }
    job.id = id;
    job.attempts = attempts;
    job.arrival_us = first.arrival_us;
    job.queue_us = first.queue_us;
    job.duration_us = total;
    ++requeues_;
    return true;
  }

  // Puts the components "45+0", "45+1" together as job "45", where the first of them stands.
  void join_components() {
    if (!has_components_) return;
    std::vector<TraceJob>& jobs = context_->trace.jobs;
    std::unordered_map<std::string_view, std::size_t> leaders;
    std::unordered_set<std::string_view> taken;  // ids of jobs without components
    for (const TraceJob& job : jobs) {
      if (job.id.find('+') == std::string_view::npos) taken.insert(job.id);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const TraceJob job = jobs[i];
      const std::size_t plus = job.id.find('+');
      if (plus == std::string_view::npos) {
        jobs[kept++] = job;
        continue;
      }
      // A number used again ("45+1#2") joins the components of its own use.
      const std::string_view use = job.id.substr(std::min(job.id.find('#'), job.id.size()));
      const std::string_view group =
          use.empty()
              ? job.id.substr(0, plus)
              : context_->trace.strings.keep(fmt::format("{}{}", job.id.substr(0, plus), use));
      if (incomplete_.contains(std::string(job.id.substr(0, plus)))) {
        context_->report.reject({.file = {},
                                 .reason = "another component of the job was rejected",
                                 .field = "JobID",
                                 .found = fmt::format("'{}'", printable(job.id)),
                                 .expected = "all components"});
        continue;
      }
      const auto [at, is_new] = leaders.emplace(group, kept);
      if (is_new) {
        jobs[kept] = job;
        jobs[kept++].id = free_id(group, taken);
      } else {
        join(jobs[at->second], job);
      }
    }
    jobs.resize(kept);
  }

  // The number of a heterogeneous job may also have been used by a job without components.
  std::string_view free_id(std::string_view id, std::unordered_set<std::string_view>& taken) {
    std::string_view free = id;
    for (int use = 2; !taken.insert(free).second; ++use) {
      free = context_->trace.strings.keep(fmt::format("{}#{}", id.substr(0, id.find('#')), use));
    }
    if (free != id) ++recycled_;
    return free;
  }

  void join(TraceJob& job, const TraceJob& part) {
    // Each is within its bound, so that two do not overflow; beyond it no figure is meant.
    const auto sum = [](MaybeInt a, MaybeInt b, std::int64_t most) {
      const bool within = a.known() && b.known() && a.value() + b.value() <= most;
      return within ? MaybeInt(a.value() + b.value()) : MaybeInt{};
    };
    job.arrival_us = std::min(job.arrival_us, part.arrival_us);
    job.duration_us = std::max(job.duration_us.value(), part.duration_us.value());
    job.gpu_milli = sum(job.gpu_milli, part.gpu_milli, kMaxCount * 1000);
    job.nodes = sum(job.nodes, part.nodes, kMaxIterations);
    job.cpu_milli = sum(job.cpu_milli, part.cpu_milli, kMaxCount * 1000);
    job.memory_mib = sum(job.memory_mib, part.memory_mib, kMaxIterations);
    job.attempts = std::max(job.attempts, part.attempts);
    // A sum with shares of unknown size in it is one of unknown size, whatever else it counts.
    job.shards = job.shards || part.shards;
    job.mig_slice = !job.shards && (job.mig_slice || part.mig_slice);
    if (job.gpu_types == NameTable::kNoName) job.gpu_types = part.gpu_types;
    context_->report.count("components of heterogeneous jobs");
  }

  void note_time_form(std::string_view text) {
    const std::size_t zone = text.size() > 10 ? text.find_first_of("+-Z", 11) : std::string::npos;
    const bool absolute =
        zone != std::string_view::npos || text.find('-') == std::string_view::npos;
    (absolute ? absolute_times_ : local_times_) = true;
  }

  void warn_about_times() {
    if (!absolute_times_ || !local_times_) return;
    context_->report.warn({.file = {},
                           .reason = "times with and without an offset are mixed",
                           .field = "Submit",
                           .found = "both",
                           .expected = "one form; those without are taken as UTC"});
  }

  ReadContext* context_;
  Table* table_;
  Collector jobs_;
  std::vector<RunInfo> runs_;
  SlurmResources resources_;
  std::unordered_set<std::string_view> names_;
  std::unordered_set<std::string> incomplete_;  // heterogeneous jobs with a rejected component
  bool has_components_ = false;
  bool absolute_times_ = false;
  bool local_times_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t requeues_ = 0;
  std::uint64_t recycled_ = 0;
};

// The columns that are needed can be of several names.
Status check_columns(const Input& input, const Table& table) {
  const auto missing = [&input](std::string column) {
    return fail(input.error(1, std::move(column), "a column is missing", {},
                            fmt::format("it, as made by {}", kCommand)));
  };
  if (!table.has(kSubmit) && !table.has(kEligible) && !table.has(kStart)) return missing("Submit");
  if (!table.has(kElapsed) && !table.has(kElapsedRaw) && !(table.has(kStart) && table.has(kEnd))) {
    return missing("Elapsed");
  }
  if (!table.has(kAllocTres) && !table.has(kReqTres) && !table.has(kAllocGres)) {
    return missing("AllocTRES");
  }
  return {};
}

Status read(ReadContext& context) {
  context.trace.zero_is_unix_time = true;
  TableSpec spec = kSpec;
  if (trim(header_line(context.input->window(), kSpec)).starts_with("JobID|"))
    spec.skip = is_step_line;
  BERTH_TRY(Table table, Table::open(*context.input, context.report, spec));
  BERTH_CHECK_OK(check_columns(*context.input, table));
  SacctReader(context, table).read();
  return {};
}

}  // namespace

const Reader kSacctReader{.name = "sacct",
                          .title = "Slurm accounting, sacct --parsable2",
                          .detect = detect,
                          .read = read};

}  // namespace berth::trace
