// Jobs for a run: what their users declared, and the truth that only the engine knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/traced_jobs.h"
#include "engine/training.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/task_graph.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth {

struct JobTruth {
  TimeUs work_us = 0;  // run time on the GPUs it asked for, alone, on one server, at speed 1
};

struct Workload {
  std::vector<Job> jobs;                // by arrival; JobId is the position
  std::vector<JobTruth> truths;         // by JobId
  std::vector<std::string_view> names;  // by JobId, as the trace writes them
  std::vector<TaskGraph> graphs;        // by TaskGraphId; none for as-traced jobs
  Training training;                    // nothing for as-traced jobs
  trace::Trace trace;                   // owns the names
  std::uint64_t unusable = 0;           // jobs left out: the trace does not say what they need
  std::uint64_t types_ignored = 0;      // jobs whose GPU type was ignored: the cluster names none
};

// `as-traced` (simulation.md): the trace's GPUs and durations, jobs are gangs of one task a GPU, on
// any servers; no communication, no cost of starting or preempting. What cannot be used is added to
// `report`. An error if no job is left.
[[nodiscard]] Result<Workload> as_traced(trace::Trace trace, const Cluster& cluster,
                                         Sharing sharing, trace::RejectReport& report);

// The same jobs, each task on whole GPUs. The names are views of those of `workload`, which must
// outlive the copy. For as-traced jobs: presets draw for either way of holding a GPU.
[[nodiscard]] Workload on_whole_gpus(const Workload& workload);

// Divides the times of submission; deadlines keep their distance from them.
void divide_arrivals(Workload& workload, double load);
// Leaves out all but the first jobs, with what belongs to them.
void keep_first(Workload& workload, std::size_t jobs);

// Offered load (simulation.md): alone GPU-hours over the capacity of the cluster in the time from
// the first to the last arrival. `whole`: each task on a whole GPU; `share`: weighted by duty cycle
// (the share that as-traced jobs declare), whether or not GPUs are shared. Negative if there is no
// span to divide by. Jobs that never fit do not count.
struct OfferedLoad {
  double whole = -1.0;
  double share = -1.0;
};
[[nodiscard]] OfferedLoad offered_load(const Workload& workload, const Cluster& cluster);

}  // namespace berth
