// The Philly trace as one line per job: arrival, GPUs, duration. Also the table that adds the
// virtual cluster to it.
#include <array>

#include "trace/collector.h"
#include "trace/formats/readers.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

enum Column : std::size_t {
  kId,
  kArrival,
  kGpus,
  kDuration,
  kVc,
  kTopology,
  kShape,
  kLocal,
  kMatch
};
constexpr std::array<ColumnSpec, 9> kColumns{{
    {"job id", true, "job_id"},
    {"arrival time (sec)", true, "arrival_s"},
    {"size", true, "gpus"},
    {"duration (sec)", true, "duration_s"},
    {"vc", false, ""},
    // Known and not used: a shape is no number in some rows, and the topology is always the same.
    {"topology", false, ""},
    {"shape", false, ""},
    {"submit_utc_like", false, ""},
    {"match", false, ""},
}};
constexpr TableSpec kSpec{.format = "philly-csv", .columns = kColumns, .comment = '#'};

int detect(const Probe& probe) {
  return header_score(probe.head, kSpec);
}

Status read(ReadContext& context) {
  BERTH_TRY(Table table, Table::open(*context.input, context.report, kSpec));
  Collector jobs(context.trace, context.report, context.input);
  while (table.next()) {
    TraceJob job;
    MaybeInt arrival;
    if (!table.require(kId) || !table.read_required(kArrival, parse_arrival_s, arrival) ||
        !table.read_required(kGpus, parse_gpus, job.gpu_milli) ||
        !table.read_required(kDuration, parse_duration_s, job.duration_us)) {
      continue;
    }
    job.arrival_us = arrival.value();
    job.vc = context.trace.vcs.index_of(table.text(kVc));
    jobs.add(job, table[kId], table.line());
  }
  return {};
}

}  // namespace

const Reader kPhillyCsvReader{.name = "philly-csv",
                              .title = "Microsoft Philly, one row per job",
                              .detect = detect,
                              .read = read};

}  // namespace berth::trace
