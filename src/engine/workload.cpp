#include "engine/workload.h"

#include <cmath>
#include <optional>
#include <span>

#include "base/huge_pages.h"
#include "policy/common/cached_policy.h"

namespace berth {

Result<Workload> as_traced(trace::Trace trace, const Cluster& cluster, Sharing sharing,
                           trace::RejectReport& report) {
  Workload out;
  TracedJobs traced_jobs(trace, cluster, sharing, report);
  out.jobs.reserve(trace.jobs.size());
  out.truths.reserve(trace.jobs.size());
  out.names.reserve(trace.jobs.size());
  use_huge_pages(out.jobs);
  use_huge_pages(out.truths);
  use_huge_pages(out.names);
  for (const trace::TraceJob& traced : trace.jobs) {
    const std::optional<Job> job = traced_jobs.job(traced);
    if (!job) continue;
    out.jobs.push_back(*job);
    out.truths.push_back({traced.duration_us.value()});
    out.names.push_back(traced.id);
  }
  out.unusable = traced_jobs.unusable();
  out.types_ignored = traced_jobs.types_ignored();
  if (out.jobs.empty()) return fail(no_usable_job(trace, out.unusable));
  out.trace = std::move(trace);
  out.trace.jobs = {};  // what a run needs of them is in `jobs`
  return out;
}

Workload on_whole_gpus(const Workload& workload) {
  Workload out;
  out.jobs = workload.jobs;
  out.truths = workload.truths;
  out.names = workload.names;
  out.unusable = workload.unusable;
  out.types_ignored = workload.types_ignored;
  for (Job& job : out.jobs) {
    if (job.gpu_milli_per_task > 0) job.gpu_milli_per_task = kWholeGpuMilli;
  }
  return out;
}

void divide_arrivals(Workload& workload, double load) {
  for (Job& job : workload.jobs) {
    const TimeUs submit_us = std::llround(static_cast<double>(job.submit_us) / load);
    if (job.deadline_us.known()) {
      job.deadline_us = submit_us + (job.deadline_us.value() - job.submit_us);
    }
    job.submit_us = submit_us;
  }
}

void keep_first(Workload& workload, std::size_t jobs) {
  if (jobs >= workload.jobs.size()) return;
  Training& training = workload.training;
  if (!training.jobs.empty()) {
    training.uses.resize(training.jobs[jobs].first_use);
    training.jobs.resize(jobs);
  }
  workload.jobs.resize(jobs);
  workload.truths.resize(jobs);
  workload.names.resize(jobs);
}

namespace {

// GPUs that the job keeps busy while it runs alone: a task counts as the part of its device that it
// really uses where that is known, else as the part that it takes.
double busy_gpus(const Workload& workload, std::size_t j) {
  const Job& job = workload.jobs[j];
  if (workload.training.jobs.empty()) return static_cast<double>(job.gpu_milli()) / 1000.0;
  const auto uses =
      std::span(workload.training.uses).subspan(workload.training.jobs[j].first_use, job.workers());
  std::int64_t sm_ppm = 0;
  for (const TaskUse& use : uses) sm_ppm += use.sm_ppm;
  return static_cast<double>(sm_ppm) / 1e6;
}

}  // namespace

OfferedLoad offered_load(const Workload& workload, const Cluster& cluster) {
  const TimeUs span_us = workload.jobs.back().submit_us - workload.jobs.front().submit_us;
  const auto gpus = static_cast<double>(cluster.gpus());
  if (span_us <= 0 || gpus == 0) return {};
  double whole_gpu_s = 0;
  double share_gpu_s = 0;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const Job& job = workload.jobs[j];
    if (never_reason(cluster, job).code != ReasonCode::kNone) continue;
    const double alone_s = seconds(workload.truths[j].work_us);
    if (job.gpu_milli_per_task > 0) whole_gpu_s += alone_s * job.workers();
    share_gpu_s += alone_s * busy_gpus(workload, j);
  }
  const double capacity_gpu_s = gpus * seconds(span_us);
  return {whole_gpu_s / capacity_gpu_s, share_gpu_s / capacity_gpu_s};
}

}  // namespace berth
