#include "controller/job_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace berth {
namespace {

template <class IdType>
IdType id_of(NameIds& ids, std::string_view name) {
  return IdType{ids.id(name)};
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// What is declared of a replica: equal parts, in a chain where no graph is given. Nothing is known
// of their sizes, so each counts the same.
TaskGraph graph_of(const JobSpec& spec, std::uint32_t tasks_per_worker) {
  TaskGraph graph;
  const std::uint32_t tasks = spec.partitions * tasks_per_worker;
  graph.tasks.assign(tasks, {.parameters = 1, .compute_us = kUsPerS / 10, .exchange_bytes = 1});
  auto edges = spec.graph;
  if (edges.empty()) {
    for (std::uint32_t p = 1; p < spec.partitions; ++p) edges.emplace_back(p - 1, p);
  }
  for (const auto& [from, to] : edges) {
    graph.edges.push_back({from * tasks_per_worker, to * tasks_per_worker, 1});
  }
  std::ranges::sort(graph.edges, {}, [](const TaskEdge& e) { return std::pair(e.from, e.to); });
  graph.comm = spec.parameter_server ? CommStructure::kParameterServer : CommStructure::kAllReduce;
  return graph;
}

}  // namespace

std::uint32_t NameIds::id(std::string_view name) {
  if (name.empty()) return UserId::kNone;
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto next = static_cast<std::uint32_t>(ids_.size());
  ids_.emplace(std::string(name), next);
  return next;
}

std::uint32_t JobModel::cpu_milli(const JobSpec& spec) const {
  return spec.cpu_milli > 0 || spec.gpu_milli > 0 ? spec.cpu_milli : default_cpu_milli_;
}

std::int64_t JobModel::worker_milli(const JobSpec& spec) const {
  if (spec.gpu_milli > 0) return spec.gpu_milli;
  std::int64_t milli = cpu_milli(spec);
  if (slots_.memory_mib_per_core() > 0) {
    milli = std::max(milli,
                     divide_up(std::int64_t{spec.memory_mib} * 1000, slots_.memory_mib_per_core()));
  }
  return milli;
}

std::uint32_t JobModel::tasks_per_worker(const JobSpec& spec) const {
  return static_cast<std::uint32_t>(divide_up(worker_milli(spec), kWholeGpuMilli));
}

GpuTypeMask JobModel::types_of(const JobSpec& spec) const {
  if (spec.gpu_milli == 0) return slots_.core_mask();
  if (spec.gpu_types.empty()) return slots_.gpu_mask();
  GpuTypeMask mask = 0;
  for (const std::string& name : spec.gpu_types) {
    const GpuTypeId type = slots_.cluster().find_gpu_type(name);
    if (type.valid()) mask |= GpuTypeMask{1} << type.value;
  }
  return mask & slots_.gpu_mask();
}

Status JobModel::check(const JobSpec& spec) const {
  const auto refuse = [](std::string field, std::string message, std::string expected = {}) {
    return fail(bad_input({}, 0, std::move(field), std::move(message), {}, std::move(expected)));
  };
  std::vector<std::string_view> types;
  for (const GpuType& type : slots_.cluster().gpu_types) {
    if (type.name != kCoreType && !type.name.empty()) types.push_back(type.name);
  }
  for (const std::string& name : spec.gpu_types) {
    if (name == kCoreType || !slots_.cluster().find_gpu_type(name).valid()) {
      return refuse("gpu_type", types.empty() ? "this cluster has no GPU of a known type"
                                              : unknown_name("GPU type", name, types));
    }
  }
  std::vector<std::string_view> vcs;
  for (const VirtualCluster& vc : slots_.cluster().vcs) vcs.push_back(vc.name);
  if (!spec.virtual_cluster.empty() && std::ranges::count(vcs, spec.virtual_cluster) == 0) {
    return refuse("virtual_cluster",
                  vcs.empty() ? "this cluster has no virtual clusters"
                              : unknown_name("virtual cluster", spec.virtual_cluster, vcs));
  }
  if (slots_.most_memory_mib() > 0 && spec.memory_mib > slots_.most_memory_mib()) {
    return refuse(
        "memory", fmt::format("asks for {} MiB of main memory for a worker", spec.memory_mib),
        fmt::format("at most the {} MiB of the largest server", slots_.most_memory_mib()));
  }
  return {};
}

ModelledJob JobModel::model(const JobSpec& spec, std::string_view user, TimeUs submit_us,
                            MaybeInt deadline_us) {
  ModelledJob out;
  Job& job = out.job;
  const std::int64_t milli = worker_milli(spec);
  const std::uint32_t per_worker = tasks_per_worker(spec);
  const std::uint32_t workers = spec.replicas * spec.partitions;
  job.submit_us = submit_us;
  job.replicas = spec.elastic ? spec.replicas : 1;
  job.parameter_servers = spec.parameter_server ? 1 : 0;
  job.tasks = workers * per_worker + job.parameter_servers;
  job.gpu_milli_per_task = static_cast<std::uint32_t>(divide_up(milli, per_worker));
  job.gpu_memory_mib_per_task = spec.gpu_memory_mib;
  // Cores are devices themselves, with their memory.
  if (spec.gpu_milli > 0) {
    job.cpu_milli_per_task = spec.cpu_milli / per_worker;
    job.memory_mib_per_task = spec.memory_mib / per_worker;
  }
  job.gpu_types = types_of(spec);
  job.user = id_of<UserId>(users_, user);
  job.model = id_of<ModelId>(models_, spec.model);
  for (std::size_t v = 0; v < slots_.cluster().vcs.size(); ++v) {
    if (slots_.cluster().vcs[v].name == spec.virtual_cluster) job.vc = VcId{v};
  }
  job.priority = spec.priority;
  job.urgency = spec.urgency;
  job.deadline_us = deadline_us;
  if (spec.time_limit_us) job.time_limit_us = *spec.time_limit_us;
  if (spec.max_iterations) job.max_iterations = *spec.max_iterations;
  job.required_accuracy_ppm = spec.required_accuracy_ppm;
  job.stop = spec.stop;
  job.stop_at_worst = spec.stop_at_worst;
  if (job.replicas > 1) out.graph = graph_of(spec, per_worker);
  return out;
}

std::vector<TaskLaunch> JobModel::launches(const JobSpec& spec,
                                           std::span<const TaskPlace> places) const {
  const std::uint32_t per_worker = tasks_per_worker(spec);
  const std::uint32_t workers = spec.replicas * spec.partitions;
  std::vector<TaskLaunch> out;
  for (const TaskPlace& place : places) {
    const std::uint32_t worker = std::min(place.task / per_worker, workers);
    if (out.empty() || out.back().task != worker) {
      out.push_back({.task = worker,
                     .server = slots_.physical(place.to.server),
                     .cpu_milli = worker < workers ? cpu_milli(spec) : 0,
                     .memory_mib = spec.memory_mib});
    }
    if (!place.to.device.valid()) continue;
    const Slot& slot = slots_.slot(place.to.device);
    if (slot.device.valid()) out.back().devices.push_back(slot.device);
  }
  return out;
}

}  // namespace berth
