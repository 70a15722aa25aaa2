#include "engine/presets/training_jobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/huge_pages.h"
#include "policy/common/cached_policy.h"

namespace berth::presets {
namespace {

// Weights and two moments of the optimiser (Adam), 4 bytes each.
constexpr std::int64_t kStateBytesPerParameter = 12;
constexpr double kCheckpointBytesPerS = 1e9;  // an NVMe disk
// A restart takes a quarter of a minute to a minute in the experiments of Pollux (OSDI 2021).
constexpr double kLoadS[] = {15, 60};
constexpr double kCheckpointEveryMin[] = {5, 15};
// How wide utilisations are spread around their mean: a beta distribution, a + b of this; one
// between uniform (2) and bell-shaped. No quantiles by job are published.
constexpr double kDutyConcentration = 2.5;
constexpr double kLeastDuty = 0.05;
// A task takes between these parts of a GPU's share of its server, so that four workers and their
// parameter servers fit one server of four GPUs.
constexpr double kDemandOfShare[] = {0.125, 0.5};
constexpr std::int64_t kLeastUnits = 8;
constexpr std::int64_t kMilliPerCore = 1000;
constexpr std::int64_t kMibPerGib = 1024;
constexpr std::int64_t kDefaultCpuMilli = 8'000;  // shares of mlfs-real, where nothing is stated
constexpr std::int64_t kDefaultMemoryMib = 58'000;
constexpr double kBusPerSm[] = {0.02, 0.20};
// Deadlines and urgency: MLFS, section on experiments.
constexpr double kDeadlineOfAlone = 1.1;
constexpr TimeUs kDeadlineUs[] = {kUsPerHour / 2, 24 * kUsPerHour};
constexpr std::int64_t kMostUrgent = 10;

constexpr double kPpm = 1e6;

std::int32_t to_int32(double value) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  return static_cast<std::int32_t>(std::llround(std::clamp(value, 0.0, kMost)));
}

// A GPU's share of what its server has, least over the servers that state it.
std::int64_t share_of_gpu(const Cluster& cluster, Resource resource, std::int64_t fallback) {
  std::int64_t least = 0;
  for (const Server& server : cluster.servers) {
    const std::int64_t amount = server.capacity[resource];
    if (amount == 0 || server.gpus == 0) continue;
    const std::int64_t share = std::max<std::int64_t>(1, amount / server.gpus);
    least = least == 0 ? share : std::min(least, share);
  }
  return least == 0 ? fallback : least;
}

std::int64_t least_gpu_memory(const Cluster& cluster) {
  std::int64_t least = std::numeric_limits<std::int32_t>::max();
  for (const GpuType& type : cluster.gpu_types) {
    if (type.memory_mib > 0) least = std::min(least, type.memory_mib);
  }
  return least;
}

// Users ask for whole cores and whole GiB, where a share is large enough for that.
std::uint32_t part_of(std::int64_t share, std::int64_t unit, Rng& rng) {
  const double amount =
      static_cast<double>(share) * rng.uniform(kDemandOfShare[0], kDemandOfShare[1]);
  if (share < kLeastUnits * unit) unit = 1;
  const std::int64_t units = std::llround(amount / static_cast<double>(unit));
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(units * unit, 1, INT32_MAX));
}

void copy_table(const NameTable& from, NameTable& to) {
  for (std::uint32_t i = 0; i < from.size(); ++i) to.index_of(from.name(i));
}

}  // namespace

void copy_names(const trace::Trace& from, trace::Trace& to) {
  to.format = from.format;
  to.source = from.source;
  copy_table(from.users, to.users);
  copy_table(from.vcs, to.vcs);
  copy_table(from.models, to.models);
  copy_table(from.gpu_types, to.gpu_types);
}

TrainingJobs::TrainingJobs(Workload& out, const Cluster& cluster, Sharing sharing,
                           const PresetSettings& settings, const Rng& root)
    : out_(out),
      cluster_(cluster),
      sharing_(sharing),
      settings_(settings),
      gpu_memory_mib_(least_gpu_memory(cluster)),
      cpu_milli_(share_of_gpu(cluster, Resource::kCpuMilli, kDefaultCpuMilli)),
      memory_mib_(share_of_gpu(cluster, Resource::kMemoryMib, kDefaultMemoryMib)),
      costs_(root, "costs"),
      graph_(root, "graph"),
      duty_(root, "duty"),
      demand_(root, "demand"),
      use_(root, "use"),
      curve_(root, "curve"),
      goals_(root, "goals") {}

void TrainingJobs::reserve(std::size_t jobs, std::size_t tasks) {
  const auto make_room = [](auto& values, std::size_t n) {
    values.reserve(n);
    use_huge_pages(values);
  };
  make_room(out_.jobs, jobs);
  make_room(out_.truths, jobs);
  make_room(out_.names, jobs);
  make_room(out_.graphs, jobs);
  make_room(out_.training.jobs, jobs);
  make_room(out_.training.uses, tasks);
}

void TrainingJobs::add(Job job, std::string_view name, const TrainingPlan& plan) {
  const std::size_t id = out_.jobs.size();
  set_shape(job, plan);

  Rng costs = costs_.of(id);
  TrainingTruth truth;
  truth.load_us = std::llround(costs.uniform(kLoadS[0], kLoadS[1]) * 1e6);
  truth.state_bytes = plan.parameters * kStateBytesPerParameter;
  const double every_min = costs.uniform(kCheckpointEveryMin[0], kCheckpointEveryMin[1]);
  const IterationPlan iterations = plan_iterations(
      {.alone_us = plan.alone_us,
       .iteration_us = plan.iteration_us,
       .least_us = plan.least_iteration_us,
       .most_us = plan.most_iteration_us,
       .replicas = job.replicas,
       .checkpoint_every_us = std::llround(every_min * static_cast<double>(kUsPerMin)),
       .checkpoint_us =
           std::llround(static_cast<double>(truth.state_bytes) / kCheckpointBytesPerS * 1e6)});
  truth.iterations = iterations.iterations;
  truth.checkpoint_us = iterations.checkpoint_us;
  truth.checkpoint_iterations = iterations.checkpoint_iterations;
  truth.checkpoint_on_stop = settings_.checkpoint_on_stop;
  Rng curve = curve_.of(id);
  const bool peaked = curve.chance(kPeaked);
  truth.curve = draw_curve(plan.curve, truth.iterations, peaked, curve);

  Rng graph = graph_.of(id);
  job.graph = TaskGraphId{out_.graphs.size()};
  out_.graphs.push_back(replica_graph({.shape = plan.shape,
                                       .parameters = plan.parameters,
                                       .compute_us = iterations.compute_us,
                                       .comm = plan.comm,
                                       .bytes = plan.bytes},
                                      graph));
  const double duty = draw_duty(job, plan.mean_duty, duty_.of(id));
  set_demand(job, truth.state_bytes / (plan.shape.layers * plan.shape.width), demand_.of(id));
  set_goals(job, truth, iterations.alone_us, goals_.of(id));
  truth.first_use = static_cast<std::uint32_t>(out_.training.uses.size());
  // Jobs that never run use nothing: they may have any number of tasks.
  if (never_reason(cluster_, job).code == ReasonCode::kNone) add_uses(job, duty, use_.of(id));

  out_.jobs.push_back(job);
  out_.truths.push_back({iterations.alone_us});
  out_.names.push_back(name);
  out_.training.jobs.push_back(truth);
}

void TrainingJobs::set_shape(Job& job, const TrainingPlan& plan) {
  job.replicas = plan.replicas;
  job.parameter_servers = plan.comm == CommStructure::kParameterServer ? 1 : 0;
  job.tasks = plan.replicas * plan.shape.layers * plan.shape.width + job.parameter_servers;
}

double TrainingJobs::draw_duty(Job& job, double mean_duty, Rng rng) const {
  if (job.gpu_milli_per_task == 0) return 0.0;
  const double drawn =
      rng.beta(mean_duty * kDutyConcentration, (1.0 - mean_duty) * kDutyConcentration);
  if (job.gpu_milli_per_task < kWholeGpuMilli) {
    const double share = job.gpu_milli_per_task / 1000.0;
    if (sharing_ == Sharing::kExclusive) job.gpu_milli_per_task = kWholeGpuMilli;
    return share;
  }
  const double duty = std::clamp(drawn, kLeastDuty, 1.0);
  if (sharing_ == Sharing::kShared) {
    job.gpu_milli_per_task = static_cast<std::uint32_t>(std::ceil(duty * kWholeGpuMilli));
  }
  return duty;
}

void TrainingJobs::set_demand(Job& job, std::int64_t state_bytes, Rng rng) const {
  constexpr std::int64_t kBytesPerMib = 1 << 20;
  const std::uint32_t cpu_milli = part_of(cpu_milli_, kMilliPerCore, rng);
  const std::uint32_t memory_mib = part_of(memory_mib_, kMibPerGib, rng);
  const std::int64_t needed_mib =
      std::llround(quantile(kGpuMemoryMib, rng.uniform())) + state_bytes / kBytesPerMib;
  const std::int64_t gpu_memory_mib = (needed_mib + kMibPerGib - 1) / kMibPerGib * kMibPerGib;
  if (job.cpu_milli_per_task == 0) job.cpu_milli_per_task = cpu_milli;
  if (job.memory_mib_per_task == 0) job.memory_mib_per_task = memory_mib;
  if (job.gpu_milli_per_task == 0) return;
  job.gpu_memory_mib_per_task =
      static_cast<std::uint32_t>(std::min(gpu_memory_mib, gpu_memory_mib_));
}

void TrainingJobs::set_goals(Job& job, const TrainingTruth& truth, TimeUs alone_us, Rng rng) const {
  job.max_iterations = truth.iterations;
  job.urgency = static_cast<std::int32_t>(rng.uniform_int(1, kMostUrgent));
  const auto in_time = static_cast<TimeUs>(kDeadlineOfAlone * static_cast<double>(alone_us));
  const TimeUs drawn = rng.uniform_int(kDeadlineUs[0], kDeadlineUs[1]);
  if (!job.deadline_us.known()) job.deadline_us = job.submit_us + std::max(in_time, drawn);
  // Rounded down, so that the last iteration reaches what the user asks for.
  job.required_accuracy_ppm = static_cast<std::int32_t>(
      settings_.required_accuracy * truth.curve.accuracy(truth.iterations) * kPpm);
  constexpr StopOption kStops[] = {StopOption::kIterations, StopOption::kOptStop,
                                   StopOption::kAccuracy};
  const std::uint64_t chosen = rng.below(3);
  const std::uint64_t permitted = rng.below(3);
  if (settings_.stop == StopChoice::kMixed) job.stop = kStops[chosen];
  job.stop_at_worst = std::max(job.stop, kStops[permitted]);
}

// Log-normal, mean 1.
double TrainingJobs::use_factor(Rng& rng) const {
  const double sigma = settings_.use_sigma;
  return rng.log_normal(-sigma * sigma / 2.0, sigma);
}

void TrainingJobs::add_uses(const Job& job, double duty, Rng rng) {
  const double bandwidth_per_sm = quantile(kBandwidthPerSm, rng.uniform());
  const double bus_per_sm = rng.uniform(kBusPerSm[0], kBusPerSm[1]);
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    TaskUse use;
    if (job.is_worker(k)) {
      const double sm = std::min(1.0, duty * use_factor(rng));
      use.sm_ppm = to_int32(sm * kPpm);
      use.memory_bandwidth_ppm = to_int32(sm * bandwidth_per_sm * kPpm);
      use.bus_ppm = to_int32(sm * bus_per_sm * kPpm);
    }
    use.cpu_milli = to_int32(job.cpu_milli_per_task * use_factor(rng));
    use.memory_mib = to_int32(job.memory_mib_per_task * use_factor(rng));
    out_.training.uses.push_back(use);
  }
}

}  // namespace berth::presets
