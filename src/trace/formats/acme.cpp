// Shanghai AI Lab Acme (NSDI'24): trace_seren.csv and trace_kalos.csv. In Kalos the column duration
// is end minus submission, against the description; only the times are used.
#include <array>

#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/lifetime.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

enum Column : std::size_t {
  kId,
  kUser,
  kNodes,
  kGpus,
  kCpus,
  kMemoryPerPod,
  kType,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kDuration,
  kSharedMemory,
  kFail,
  kStop,
  kQueue,
  kGpuTime
};
constexpr std::array<ColumnSpec, 17> kColumns{{
    {"job_id", true, ""},
    {"user", false, ""},
    {"node_num", false, ""},
    {"gpu_num", true, ""},
    {"cpu_num", false, ""},
    {"mem_per_pod_GB", false, ""},
    {"type", false, ""},
    {"state", false, ""},
    {"submit_time", true, ""},
    {"start_time", true, ""},
    {"end_time", true, ""},
    {"duration", false, ""},
    // Known and not used: they follow from the others.
    {"shared_mem_per_pod", false, ""},
    {"fail_time", false, ""},
    {"stop_time", false, ""},
    {"queue", false, ""},
    {"gpu_time", false, ""},
}};
constexpr TableSpec kSpec{.format = "acme", .columns = kColumns};
constexpr LifetimeColumns kLifetime{.submit = kSubmit,
                                    .start = kStart,
                                    .end = kEnd,
                                    .state = kState,
                                    .duration = kDuration,
                                    .duration_may_contain_queue = true};

int detect(const Probe& probe) {
  return header_score(probe.head, kSpec);
}

Status read(ReadContext& context) {
  BERTH_TRY(Table table, Table::open(*context.input, context.report, kSpec));
  Collector jobs(context.trace, context.report, context.input);
  context.trace.zero_is_unix_time = true;
  while (table.next()) {
    TraceJob job;
    MaybeInt memory_milli_gib;
    if (!table.require(kId) || !table.read_required(kGpus, parse_gpus, job.gpu_milli) ||
        !table.read(kCpus, parse_count_milli, job.cpu_milli) ||
        !table.read(kNodes, parse_count, job.nodes) ||
        !table.read(kMemoryPerPod, parse_factor_milli, memory_milli_gib) ||
        !read_lifetime(table, kLifetime, job)) {
      continue;
    }
    // A pod a node.
    constexpr std::int64_t kMostNodes = 1'000'000;
    if (memory_milli_gib.known() && job.nodes.value_or(kMostNodes) < kMostNodes) {
      job.memory_mib = memory_milli_gib.value() * 1024 / 1000 * job.nodes.value();
    }
    job.user = context.trace.users.index_of(table.text(kUser));
    job.name = context.trace.strings.keep(table.text(kType));
    jobs.add(job, table[kId], table.line());
  }
  return {};
}

}  // namespace

const Reader kAcmeReader{
    .name = "acme", .title = "Shanghai AI Lab Acme (Seren, Kalos)", .detect = detect, .read = read};

}  // namespace berth::trace
