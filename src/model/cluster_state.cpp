#include "model/cluster_state.h"

#include <fmt/format.h>

#include <utility>

#include "base/huge_pages.h"

namespace berth {
namespace {

// How many changes are kept for policies that look late; older ones mean reading everything.
constexpr std::size_t kKeptChanges = 1U << 16;

}  // namespace

ClusterState::ClusterState(const Cluster& cluster, std::vector<Job> jobs)
    : cluster_(&cluster),
      jobs_(std::move(jobs)),
      states_(large_vector<JobState>(jobs_.size())),
      reasons_(large_vector(jobs_.size(), Reason{.code = ReasonCode::kNotConsidered})),
      devices_(cluster.gpus()),
      servers_(cluster.servers.size()) {
  std::size_t tasks = 0;
  for (Job& job : jobs_) {
    job.first_task = Job::kNoTasks;
    // A job of more tasks than devices never runs whole: no placement is kept for it.
    if (job.gpu_milli_per_task == 0 ||
        job.gpu_milli() <= cluster.gpus_of(kAnyGpuType) * kWholeGpuMilli) {
      job.first_task = static_cast<std::uint32_t>(tasks);
      tasks += job.tasks;
    }
  }
  placements_ = large_vector<Placement>(tasks);
  for (std::size_t i = 0; i < servers_.size(); ++i) servers_[i].free = cluster.servers[i].capacity;
  changes_.reserve(2 * kKeptChanges);
}

void ClusterState::log(ChangeKind kind, std::uint32_t id) {
  if (changes_.size() == 2 * kKeptChanges) {
    changes_.erase(changes_.begin(), changes_.begin() + kKeptChanges);
  }
  changes_.push_back({kind, id});
  ++version_;
}

void ClusterState::log_servers(std::span<const Placement> places) {
  ServerId last;
  for (const Placement& place : places) {
    if (place.server == last) continue;
    last = place.server;
    log(ChangeKind::kServerChanged, last.value);
  }
}

JobId ClusterState::arrive() {
  const JobId id{arrived_++};
  ++pending_;
  log(ChangeKind::kJobArrived, id.value);
  return id;
}

JobId ClusterState::add_job(const Job& job) {
  jobs_.push_back(job);
  jobs_.back().first_task = static_cast<std::uint32_t>(placements_.size());
  placements_.resize(placements_.size() + job.tasks);
  states_.emplace_back();
  reasons_.push_back({.code = ReasonCode::kNotConsidered});
  return arrive();
}

std::string ClusterState::occupy(const Job& job, std::span<const Placement> places) {
  std::size_t done = 0;
  std::string why;
  for (; done < places.size() && why.empty(); ++done) {
    const Placement& place = places[done];
    if (!place.server.valid() || place.server.index() >= servers_.size()) {
      why = "no such server";
    } else if (!servers_[place.server.index()].up) {
      why = fmt::format("server {} is down", cluster_->servers[place.server.index()].name);
    } else if (job.gpu_milli_per_task == 0) {
      if (place.device.valid()) why = "a device for a task that needs none";
    } else if (!place.device.valid() || place.device.index() >= devices_.size() ||
               cluster_->devices[place.device.index()].server != place.server) {
      why = "no such device on that server";
    } else if ((job.gpu_types >> cluster_->devices[place.device.index()].type.value & 1U) == 0) {
      why = "a GPU type that the job does not accept";
    } else if (devices_[place.device.index()].free_milli < job.gpu_milli_per_task) {
      why = fmt::format("device {} has {} thousandths free, {} are needed", place.device.value,
                        devices_[place.device.index()].free_milli, job.gpu_milli_per_task);
    }
    if (!why.empty()) break;
    if (place.device.valid()) {
      devices_[place.device.index()].free_milli -= job.gpu_milli_per_task;
      ++devices_[place.device.index()].tasks;
      servers_[place.server.index()].free[Resource::kGpuMilli] -= job.gpu_milli_per_task;
    }
  }
  if (!why.empty()) vacate(job, places.first(done));
  return why;
}

void ClusterState::vacate(const Job& job, std::span<const Placement> places) {
  for (const Placement& place : places) {
    if (!place.device.valid()) continue;
    devices_[place.device.index()].free_milli += job.gpu_milli_per_task;
    --devices_[place.device.index()].tasks;
    servers_[place.server.index()].free[Resource::kGpuMilli] += job.gpu_milli_per_task;
  }
}

std::string ClusterState::start_job(JobId id, std::span<const Placement> places, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  const Job& job = jobs_[id.index()];
  JobState& state = states_[id.index()];
  if (state.status != JobStatus::kPending) return fmt::format("job {} is not pending", id.value);
  if (places.size() != job.tasks || job.first_task == Job::kNoTasks) {
    return fmt::format("job {} has {} tasks, {} are placed", id.value, job.tasks, places.size());
  }
  if (std::string why = occupy(job, places); !why.empty()) return why;
  for (std::size_t i = 0; i < places.size(); ++i) placements_[job.first_task + i] = places[i];
  state.status = JobStatus::kRunning;
  state.last_start_us = now_us;
  if (state.first_start_us == kNever) state.first_start_us = now_us;
  reasons_[id.index()] = {};
  --pending_;
  ++running_;
  log(ChangeKind::kJobStarted, id.value);
  log_servers(places);
  return {};
}

void ClusterState::release(const Job& job) {
  const auto places = std::span(placements_).subspan(job.first_task, job.tasks);
  vacate(job, places);
  log_servers(places);
}

std::string ClusterState::preempt_job(JobId id, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  JobState& state = states_[id.index()];
  if (state.status != JobStatus::kRunning) return fmt::format("job {} does not run", id.value);
  state.attained_us += now_us - state.last_start_us;
  state.status = JobStatus::kPending;
  state.last_stop_us = now_us;
  ++state.preemptions;
  reasons_[id.index()] = {.code = ReasonCode::kPreempted};
  --running_;
  ++pending_;
  log(ChangeKind::kJobPreempted, id.value);
  release(jobs_[id.index()]);
  return {};
}

std::string ClusterState::end_job(JobId id, JobStatus status, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  JobState& state = states_[id.index()];
  if (state.ended()) return fmt::format("job {} has ended", id.value);
  const bool ran = state.status == JobStatus::kRunning;
  if (ran) state.attained_us += now_us - state.last_start_us;
  state.status = status;
  state.last_stop_us = now_us;
  reasons_[id.index()] = {};
  --(ran ? running_ : pending_);
  log(ChangeKind::kJobEnded, id.value);
  if (ran) release(jobs_[id.index()]);
  return {};
}

void ClusterState::set_server_up(ServerId id, bool up) {
  if (std::exchange(servers_[id.index()].up, up) != up) log(ChangeKind::kServerChanged, id.value);
}

void ClusterState::set_head(const HeadUpdate& head) {
  if (heads_.size() <= head.slot) heads_.resize(head.slot + 1);
  heads_[head.slot] = head.job;
}

ClusterView ClusterState::view(TimeUs now_us) const {
  ClusterView view;
  view.version = version_;
  view.now_us = now_us;
  view.cluster = cluster_;
  view.jobs = std::span(jobs_).first(arrived_);
  view.states = std::span(states_).first(arrived_);
  view.reasons = std::span(reasons_).first(arrived_);
  view.heads = heads_;
  view.placements = placements_;
  view.devices = devices_;
  view.servers = servers_;
  view.graphs = graphs_;
  view.recent_changes = changes_;
  return view;
}

}  // namespace berth
