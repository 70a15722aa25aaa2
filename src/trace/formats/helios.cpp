// SenseTime Helios (SC'21): cluster_log.csv. gpu_num is the number of the whole job.
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
  kVc,
  kGpus,
  kCpus,
  kNodes,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kDuration,
  kQueue
};
constexpr std::array<ColumnSpec, 12> kColumns{{
    {"job_id", true, ""},
    {"user", false, ""},
    {"vc", false, ""},
    {"gpu_num", true, ""},
    {"cpu_num", false, ""},
    {"node_num", false, ""},
    {"state", false, ""},
    {"submit_time", true, ""},
    {"start_time", true, ""},
    {"end_time", true, ""},
    {"duration", false, ""},
    {"queue", false, ""},
}};
constexpr TableSpec kSpec{.format = "helios", .columns = kColumns};
constexpr LifetimeColumns kLifetime{
    .submit = kSubmit, .start = kStart, .end = kEnd, .state = kState, .duration = kDuration};

int detect(const Probe& probe) {
  return header_score(probe.head, kSpec);
}

Status read(ReadContext& context) {
  BERTH_TRY(Table table, Table::open(*context.input, context.report, kSpec));
  Collector jobs(context.trace, context.report, context.input);
  context.trace.zero_is_unix_time = true;
  while (table.next()) {
    TraceJob job;
    if (!table.require(kId) || !table.read_required(kGpus, parse_gpus, job.gpu_milli) ||
        !table.read(kCpus, parse_count_milli, job.cpu_milli) ||
        !table.read(kNodes, parse_count, job.nodes) || !read_lifetime(table, kLifetime, job)) {
      continue;
    }
    job.user = context.trace.users.index_of(table.text(kUser));
    job.vc = context.trace.vcs.index_of(table.text(kVc));
    jobs.add(job, table[kId], table.line());
  }
  return {};
}

}  // namespace

const Reader kHeliosReader{
    .name = "helios", .title = "SenseTime Helios", .detect = detect, .read = read};

}  // namespace berth::trace
