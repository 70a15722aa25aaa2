#include "engine/traced_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace berth {
namespace {

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
    return kNotWholeGpus;
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

// GPU types of a trace ("V100M16|V100M32") as a mask of the cluster.
GpuTypeMask type_mask(std::string_view names, const Cluster& cluster) {
  GpuTypeMask mask = 0;
  for (const auto name : split(names, '|')) {
    const GpuTypeId type = cluster.find_gpu_type(name);
    if (type.valid()) mask |= GpuTypeMask{1} << type.value;
  }
  return mask;
}

}  // namespace

std::string_view sharing_name(Sharing sharing) {
  return sharing == Sharing::kShared ? "shared" : "exclusive";
}

TracedJobs::TracedJobs(const trace::Trace& trace, const Cluster& cluster, Sharing sharing,
                       trace::RejectReport& report)
    : trace_(trace), report_(report), sharing_(sharing) {
  cluster_names_types_ = std::any_of(cluster.gpu_types.begin(), cluster.gpu_types.end(),
                                     [](const GpuType& type) { return !type.name.empty(); });
  for (std::uint32_t i = 0; i < trace.gpu_types.size(); ++i) {
    masks_.push_back(type_mask(trace.gpu_types.name(i), cluster));
  }
}

std::optional<Job> TracedJobs::job(const trace::TraceJob& traced) {
  if (const auto why = unusable_because(traced, sharing_); !why.empty()) {
    reject(traced, why);
    return std::nullopt;
  }
  Job job;
  job.submit_us = traced.arrival_us;
  set_gpus(job, traced.gpu_milli.value(), sharing_);
  if (traced.gpu_types != NameTable::kNoName) {
    if (cluster_names_types_) {
      job.gpu_types = masks_[traced.gpu_types];
    } else {
      ++types_ignored_;
    }
  }
  job.user = UserId{traced.user};
  job.vc = VcId{traced.vc};
  job.model = ModelId{traced.model};
  job.priority = traced.priority;
  job.time_limit_us = traced.time_limit_us;
  if (traced.deadline_us.known()) job.deadline_us = traced.arrival_us + traced.deadline_us.value();
  return job;
}

void TracedJobs::reject(const trace::TraceJob& traced, std::string_view why) {
  ++unusable_;
  report_.reject({.file = trace_.source,
                  .reason = std::string(why),
                  .field = "job",
                  .found = std::string(traced.id),
                  .expected = "a duration and a GPU count that can be simulated"});
}

Error no_usable_job(const trace::Trace& trace, std::uint64_t unusable) {
  return bad_input(
      trace.source, 0, "", "no job that can be simulated",
      fmt::format("{}, {} without what is needed", counted(trace.jobs.size(), "job"), unusable),
      "at least one job with a duration and a GPU count");
}

}  // namespace berth
