#include "engine/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/huge_pages.h"
#include "base/text.h"
#include "policy/common/cached_policy.h"

namespace berth {
namespace {

// Longer than any job, short enough that thousands in a row stay in range.
constexpr TimeUs kLongestRun = 36'500 * kUsPerDay;

// GPU types of the trace ("V100M16|V100M32", by index of Trace::gpu_types) as masks of the cluster.
class TypeMasks {
 public:
  TypeMasks(const trace::Trace& trace, const Cluster& cluster) {
    named_ = std::any_of(cluster.gpu_types.begin(), cluster.gpu_types.end(),
                         [](const GpuType& type) { return !type.name.empty(); });
    for (std::uint32_t i = 0; i < trace.gpu_types.size(); ++i) {
      GpuTypeMask mask = 0;
      for (const auto name : split(trace.gpu_types.name(i), '|')) {
        const GpuTypeId type = cluster.find_gpu_type(name);
        if (type.valid()) mask |= GpuTypeMask{1} << type.value;
      }
      masks_.push_back(mask);
    }
  }
  [[nodiscard]] bool cluster_names_types() const { return named_; }
  [[nodiscard]] GpuTypeMask mask(std::uint32_t index) const { return masks_[index]; }

 private:
  bool named_ = false;
  std::vector<GpuTypeMask> masks_;
};

// Why the job cannot be simulated; empty if it can.
std::string_view unusable_because(const trace::TraceJob& job, Sharing sharing) {
  if (!job.duration_us.known()) return "duration unknown";
  if (!job.gpu_milli.known()) return "GPU count unknown";
  if (job.shards) return "shards: shares of a GPU of unknown size";
  if (job.duration_us.value() > kLongestRun || job.arrival_us > kLongestRun) {
    return "longer than 100 years";
  }
  if (job.gpu_milli.value() / kWholeGpuMilli >= std::numeric_limits<std::uint32_t>::max()) {
    return "more GPUs than can be counted";
  }
  if (sharing == Sharing::kShared && job.gpu_milli.value() > kWholeGpuMilli &&
      job.gpu_milli.value() % kWholeGpuMilli != 0) {
    return "more than one GPU, but not a whole number";
  }
  return {};
}

void set_gpus(Job& job, std::int64_t gpu_milli, Sharing sharing) {
  if (gpu_milli == 0) {
    job.gpu_milli_per_task = 0;
  } else if (gpu_milli < kWholeGpuMilli && sharing == Sharing::kShared) {
    job.gpu_milli_per_task = static_cast<std::uint32_t>(gpu_milli);
  } else {
    job.tasks = static_cast<std::uint32_t>((gpu_milli + kWholeGpuMilli - 1) / kWholeGpuMilli);
  }
}

}  // namespace

Result<Workload> as_traced(trace::Trace trace, const Cluster& cluster, Sharing sharing,
                           trace::RejectReport& report) {
  Workload out;
  const TypeMasks masks(trace, cluster);
  out.jobs.reserve(trace.jobs.size());
  out.truths.reserve(trace.jobs.size());
  out.names.reserve(trace.jobs.size());
  use_huge_pages(out.jobs);
  use_huge_pages(out.truths);
  use_huge_pages(out.names);
  for (const trace::TraceJob& traced : trace.jobs) {
    if (const auto why = unusable_because(traced, sharing); !why.empty()) {
      ++out.unusable;
      report.reject({.file = trace.source,
                     .reason = std::string(why),
                     .field = "job",
                     .found = std::string(traced.id),
                     .expected = "a duration and a GPU count that can be simulated"});
      continue;
    }
    Job job;
    job.submit_us = traced.arrival_us;
    set_gpus(job, traced.gpu_milli.value(), sharing);
    if (traced.gpu_types != NameTable::kNoName) {
      if (masks.cluster_names_types()) {
        job.gpu_types = masks.mask(traced.gpu_types);
      } else {
        ++out.types_ignored;
      }
    }
    job.user = UserId{traced.user};
    job.vc = VcId{traced.vc};
    job.model = ModelId{traced.model};
    job.priority = traced.priority;
    job.time_limit_us = traced.time_limit_us;
    if (traced.deadline_us.known())
      job.deadline_us = traced.arrival_us + traced.deadline_us.value();
    out.jobs.push_back(job);
    out.truths.push_back({traced.duration_us.value()});
    out.names.push_back(traced.id);
  }
  if (out.jobs.empty()) {
    return fail(bad_input(trace.source, 0, "", "no job that can be simulated",
                          fmt::format("{}, {} without what is needed",
                                      counted(trace.jobs.size(), "job"), out.unusable),
                          "at least one job with a duration and a GPU count"));
  }
  out.trace = std::move(trace);
  out.trace.jobs = {};  // what a run needs of them is in `jobs`
  return out;
}

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
    if (job.gpu_milli_per_task > 0) whole_gpu_s += alone_s * job.tasks;
    share_gpu_s += alone_s * static_cast<double>(job.gpu_milli()) / 1000.0;
  }
  const double capacity_gpu_s = gpus * seconds(span_us);
  return {whole_gpu_s / capacity_gpu_s, share_gpu_s / capacity_gpu_s};
}

}  // namespace berth
