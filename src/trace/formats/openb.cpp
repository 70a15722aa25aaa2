// Alibaba's GPU-sharing trace: a list of pods. One GPU can be asked for in thousandths; several
// only whole. A pod's run is from its scheduling to its deletion. In a folder, the one list of pods
// is read; lists of nodes are clusters (nodes_openb.cpp).
#include <array>
#include <string>

#include "base/number.h"
#include "trace/collector.h"
#include "trace/folder.h"
#include "trace/formats/readers.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

enum Column : std::size_t {
  kName,
  kCpu,
  kMemory,
  kGpus,
  kShare,
  kSpec,
  kQos,
  kPhase,
  kCreated,
  kDeleted,
  kScheduled
};
constexpr std::array<ColumnSpec, 11> kColumns{{
    {"name", true, ""},
    {"cpu_milli", false, ""},
    {"memory_mib", false, ""},
    {"num_gpu", true, ""},
    {"gpu_milli", true, ""},
    {"gpu_spec", false, ""},
    {"qos", false, ""},
    {"pod_phase", false, ""},
    {"creation_time", true, ""},
    {"deletion_time", true, ""},
    {"scheduled_time", true, ""},
}};
constexpr TableSpec kTable{.format = "openb", .columns = kColumns};

constexpr Fault kNeverStarted{"never started", "a time of scheduling"};
constexpr Fault kStillRunning{"still running", "a time of deletion"};
constexpr Fault kDeletedFirst{"deletion before creation", "a later deletion"};
constexpr Fault kEndBeforeStart{"end before start", "a deletion after the scheduling"};
constexpr Fault kTooLong{"out of range", "a run of at most 100 years"};
constexpr Fault kWaitTooLong{"scheduled long after creation",
                             "at most 100 years later; the wait is unknown"};
constexpr Fault kScheduledFirst{"scheduled before creation", "a later time; creation is used"};
constexpr Fault kShareRange{"share out of range", "1 to 1000 thousandths of one GPU"};
constexpr Fault kShareOfMany{"share of several GPUs", "1000 (whole GPUs), or num_gpu 1"};
constexpr Fault kShareOfNone{"share without a GPU", "0, or num_gpu 1"};

int detect(const Probe& probe) {
  if (!probe.folder) return header_score(probe.head, kTable);
  return files_with_header(probe.path, kTable).size() == 1 ? 90 : 0;
}

// "V100M16|V100M32", without empty names; "" for no constraint.
std::string allowed_types(std::string_view spec) {
  std::string out;
  while (!spec.empty()) {
    const std::size_t end = std::min(spec.find('|'), spec.size());
    const std::string_view name = trim(spec.substr(0, end));
    spec.remove_prefix(std::min(end + 1, spec.size()));
    if (is_missing(name)) continue;
    if (!out.empty()) out += '|';
    out += name;
  }
  return out;
}

bool read_gpus(Table& table, TraceJob& job) {
  MaybeInt gpus;
  MaybeInt share;
  if (!table.read_required(kGpus, parse_count, gpus) || !table.read(kShare, parse_count, share)) {
    return false;
  }
  const Fault* fault = nullptr;
  if (gpus.value() > kMaxCount) fault = &kShareRange;
  if (gpus.value() == 0 && share.value_or(0) != 0) fault = &kShareOfNone;
  if (gpus.value() == 1 && (share.value_or(1000) < 1 || share.value_or(1000) > 1000)) {
    fault = &kShareRange;
  }
  if (gpus.value() > 1 && share.value_or(1000) != 1000) fault = &kShareOfMany;
  if (fault != nullptr) {
    table.reject(*fault, kShare);
    return false;
  }
  job.gpu_milli = gpus.value() * share.value_or(1000);
  return true;
}

bool read_times(Table& table, TraceJob& job) {
  MaybeInt created;
  MaybeInt scheduled;
  MaybeInt deleted;
  if (!table.read_required(kCreated, parse_arrival_s, created) ||
      !table.read(kScheduled, parse_arrival_s, scheduled) ||
      !table.read(kDeleted, parse_arrival_s, deleted)) {
    return false;
  }
  const auto reject = [&table](const Fault& fault, std::size_t column) {
    table.reject(fault, column);
    return false;
  };
  if (!scheduled.known()) return reject(kNeverStarted, kScheduled);
  if (!deleted.known()) return reject(kStillRunning, kDeleted);
  if (deleted.value() < created.value()) return reject(kDeletedFirst, kDeleted);
  if (scheduled.value() < created.value()) {
    table.warn(kScheduledFirst, kScheduled);
    scheduled = created;
  }
  if (deleted.value() < scheduled.value()) return reject(kEndBeforeStart, kDeleted);
  if (deleted.value() - scheduled.value() > kMaxDurationUs) return reject(kTooLong, kDeleted);
  job.arrival_us = created.value();
  const TimeUs wait_us = scheduled.value() - created.value();
  if (wait_us <= kMaxDurationUs) {
    job.queue_us = wait_us;
  } else {
    table.warn(kWaitTooLong, kScheduled);
  }
  job.duration_us = deleted.value() - scheduled.value();
  return true;
}

EndStatus status_of(std::string_view phase) {
  if (phase == "Succeeded") return EndStatus::kCompleted;
  if (phase == "Failed") return EndStatus::kFailed;
  return EndStatus::kUnknown;  // "Running" when the trace was cut
}

Status read_pods(Input& input, ReadContext& context) {
  BERTH_TRY(Table table, Table::open(input, context.report, kTable));
  Collector jobs(context.trace, context.report, context.input);
  while (table.next()) {
    TraceJob job;
    if (!table.require(kName) || !read_times(table, job) || !read_gpus(table, job) ||
        !table.read(kCpu, parse_count, job.cpu_milli) ||
        !table.read(kMemory, parse_count, job.memory_mib)) {
      continue;
    }
    job.gpu_types = context.trace.gpu_types.index_of(allowed_types(table[kSpec]));
    job.status = status_of(table[kPhase]);
    jobs.add(job, table[kName], table.line());
  }
  return {};
}

Status read(ReadContext& context) {
  if (context.input != nullptr) return read_pods(*context.input, context);
  BERTH_TRY(const std::string path, only_file_with_header(context.path, kTable, "a list of pods"));
  BERTH_TRY(Input input, Input::open(path));
  BERTH_CHECK_OK(read_pods(input, context));
  return input.status();
}

}  // namespace

const Reader kOpenbReader{.name = "openb",
                          .title = "Alibaba GPU sharing 2023 (openb), list of pods",
                          .detect = detect,
                          .read = read,
                          .reads_folders = true};

}  // namespace berth::trace
