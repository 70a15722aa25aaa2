#include "engine/presets/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/presets/measured_facts.h"
#include "engine/presets/training_jobs.h"
#include "policy/common/cached_policy.h"

namespace berth {
namespace {

using presets::ProfiledModel;

// Synchronisation was measured as time: bytes that take it over the link of mlfs-real.
constexpr double kLinkBytesPerS = 1.25e9;

// Pollux (OSDI 2021, section 5.1) gives each kind of job a range of GPU time; models of one range
// are equally likely. Positions in profiled_models().
struct SizeClass {
  double below_gpu_h;
  std::size_t first;
  std::size_t models;
};
constexpr SizeClass kSizeClasses[] = {{1, 0, 2}, {10, 2, 2}, {100, 4, 1}, {INFINITY, 5, 1}};

const ProfiledModel& draw_model(double gpu_h, Rng& rng) {
  const auto at = std::ranges::find_if(
      kSizeClasses, [gpu_h](const SizeClass& size) { return gpu_h < size.below_gpu_h; });
  return presets::profiled_models()[at->first + rng.below(at->models)];
}

double mean_duty(std::uint32_t gpus) {
  double mean = presets::kPhillyUtilisation.front().mean;
  for (const auto& size : presets::kPhillyUtilisation) {
    if (gpus >= size.gpus) mean = size.mean;
  }
  return mean;
}

presets::TrainingPlan plan_of(const ProfiledModel& model, std::uint32_t gpus, TimeUs duration_us,
                              Rng& rng) {
  // Users try batch sizes by factors, so the logarithm is uniform.
  const double batch = model.min_batch * std::pow(model.max_batch / model.min_batch, rng.uniform());
  double step_s = model.step_base_s + model.step_per_sample_s * batch;
  if (gpus > 1) step_s += model.sync_in_server_s;
  presets::TrainingPlan plan;
  plan.replicas = gpus;
  plan.parameters = model.parameters;
  if (gpus > 1) {
    const auto bytes =
        std::llround((model.sync_between_s - model.sync_in_server_s) * kLinkBytesPerS);
    plan.comm = CommStructure::kAllReduce;
    plan.bytes = {bytes, bytes};
  }
  plan.alone_us = duration_us;
  plan.iteration_us = std::llround(step_s * 1e6);
  plan.mean_duty = mean_duty(gpus);
  plan.curve = *model.curve;
  return plan;
}

// The trace's own demands, where it has any, in equal parts for the tasks.
void set_known_demand(Job& job, const trace::TraceJob& traced) {
  const auto part = [&job](MaybeInt whole) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(whole.value_or(0) / job.tasks, 0, INT32_MAX));
  };
  job.cpu_milli_per_task = part(traced.cpu_milli);
  job.memory_mib_per_task = part(traced.memory_mib);
}

// Each is described by itself: some hundred bytes, with what the engine keeps of it.
constexpr std::uint64_t kMostTasks = 50'000'000;

Error too_many_tasks(const trace::Trace& trace) {
  return bad_input(trace.source, 0, "", "too many tasks for a workload of training jobs", "more",
                   fmt::format("at most {} in all", kMostTasks));
}

}  // namespace

Result<Workload> measured_workload(const trace::Trace& trace, const Cluster& cluster,
                                   Sharing sharing, const PresetSettings& settings,
                                   std::uint64_t seed, trace::RejectReport& report) {
  Workload out;
  const Rng root = presets::workload_rng(seed);
  const presets::JobStreams kinds(root, "kind");
  presets::TrainingJobs builder(out, cluster, sharing, settings, root);
  // Shares are read even where GPUs are not shared: they are the duty of the tasks either way.
  TracedJobs traced_jobs(trace, cluster, Sharing::kShared, report);
  presets::copy_names(trace, out.trace);
  builder.reserve(trace.jobs.size(), 2 * trace.jobs.size());
  std::uint64_t tasks = 0;  // of jobs that can run
  for (const trace::TraceJob& traced : trace.jobs) {
    std::optional<Job> job = traced_jobs.job(traced);
    if (!job) continue;
    if (job->gpu_milli_per_task == 0) {
      traced_jobs.reject(traced, "no GPU: not a training job");
      continue;
    }
    const std::uint32_t gpus = job->tasks;
    if (never_reason(cluster, *job).code == ReasonCode::kNone) tasks += gpus;
    if (tasks > kMostTasks) return fail(too_many_tasks(trace));
    const TimeUs duration_us = traced.duration_us.value();
    const double gpu_h = seconds(duration_us) / 3600.0 * gpus;
    Rng kind = kinds.of(out.jobs.size());
    const ProfiledModel& model = draw_model(gpu_h, kind);
    if (!job->model.valid()) job->model = ModelId{out.trace.models.index_of(model.name)};
    set_known_demand(*job, traced);
    builder.add(*job, out.trace.strings.keep(traced.id), plan_of(model, gpus, duration_us, kind));
  }
  out.unusable = traced_jobs.unusable();
  out.types_ignored = traced_jobs.types_ignored();
  if (out.jobs.empty()) return fail(no_usable_job(trace, out.unusable));
  return out;
}

}  // namespace berth
