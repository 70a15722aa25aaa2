#include "model/cluster_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/huge_pages.h"

namespace berth {
namespace {

// How many changes are kept for policies that look late; older ones mean reading everything.
constexpr std::size_t kKeptChanges = 1U << 16;

constexpr auto kEveryCopy = [](const TaskCopy& /*copy*/) { return true; };

}  // namespace

ClusterState::ClusterState(const Cluster& cluster, std::vector<Job> jobs,
                           std::vector<TaskGraph> graphs)
    : cluster_(&cluster),
      jobs_(std::move(jobs)),
      states_(large_vector<JobState>(jobs_.size())),
      reasons_(large_vector(jobs_.size(), Reason{.code = ReasonCode::kNotConsidered})),
      devices_(cluster.gpus()),
      servers_(cluster.servers.size()),
      graphs_(std::move(graphs)) {
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
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::int64_t mib = cluster.gpu_types[cluster.devices[d].type.index()].memory_mib;
    if (mib > 0) devices_[d].free_memory_mib = mib;
  }
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
    if (place.server == last || !place.server.valid()) continue;
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

JobId ClusterState::add_known_job(const Job& job, const JobState& state,
                                  std::span<const TaskPlace> tasks, TimeUs now_us) {
  const JobId id = add_job(job);
  JobState& mine = states_[id.index()];
  mine = state;
  mine.tasks_placed = 0;
  if (state.ended()) {
    reasons_[id.index()] = {};
    --pending_;
    log(ChangeKind::kJobEnded, id.value);
    return id;
  }
  mine.status = JobStatus::kPending;
  if (state.status != JobStatus::kRunning) return id;
  if (start_tasks(id, tasks, now_us).empty()) {
    mine.last_start_us = state.last_start_us;
    return id;
  }
  mine.attained_us = state.attained_by(now_us);
  mine.last_stop_us = now_us;
  ++mine.evictions;
  reasons_[id.index()] = {.code = ReasonCode::kEvicted};
  return id;
}

TaskGraphId ClusterState::add_graph(TaskGraph graph) {
  graphs_.push_back(std::move(graph));
  return TaskGraphId{graphs_.size() - 1};
}

ClusterState::Obstacle ClusterState::obstacle(const Job& job, const TaskPlace& task) const {
  const Placement& to = task.to;
  if (task.task >= job.tasks) return Obstacle::kNoSuchTask;
  if (to.server.index() >= servers_.size()) return Obstacle::kNoSuchServer;
  if (!servers_[to.server.index()].up) return Obstacle::kServerDown;
  if (job.gpu_milli_per_task == 0 || !job.is_worker(task.task)) {
    return to.device.valid() ? Obstacle::kNeedsNoDevice : Obstacle::kNone;
  }
  if (to.device.index() >= devices_.size()) return Obstacle::kNoSuchDevice;
  const Device& device = cluster_->devices[to.device.index()];
  if (device.server != to.server) return Obstacle::kNoSuchDevice;
  const DeviceState& state = devices_[to.device.index()];
  if (!state.up) return Obstacle::kDeviceDown;
  if ((job.gpu_types >> device.type.value & 1U) == 0) return Obstacle::kGpuType;
  if (state.free_milli < job.gpu_milli_per_task) return Obstacle::kDeviceFull;
  if (state.free_memory_mib < job.gpu_memory_mib_per_task) return Obstacle::kDeviceMemory;
  return Obstacle::kNone;
}

std::string ClusterState::in_words(Obstacle obstacle, const Job& job, const Placement& to) const {
  switch (obstacle) {
    case Obstacle::kNone:
      return {};
    case Obstacle::kNoSuchTask:
      return "no such task";
    case Obstacle::kNoSuchServer:
      return "no such server";
    case Obstacle::kServerDown:
      return fmt::format("server {} is down", cluster_->servers[to.server.index()].name);
    case Obstacle::kNeedsNoDevice:
      return "a device for a task that needs none";
    case Obstacle::kNoSuchDevice:
      return "no such device on that server";
    case Obstacle::kDeviceDown:
      return fmt::format("device {} is down", to.device.value);
    case Obstacle::kGpuType:
      return "a GPU type that the job does not accept";
    case Obstacle::kDeviceFull:
      return fmt::format("device {} has {} thousandths free, {} are needed", to.device.value,
                         devices_[to.device.index()].free_milli, job.gpu_milli_per_task);
    case Obstacle::kDeviceMemory:
      return fmt::format("device {} has {} MiB free, {} are needed", to.device.value,
                         devices_[to.device.index()].free_memory_mib, job.gpu_memory_mib_per_task);
  }
  return "refused";
}

void ClusterState::take(const Job& job, std::uint32_t task, const Placement& place) {
  ServerState& server = servers_[place.server.index()];
  server.free[Resource::kCpuMilli] -= job.cpu_milli_per_task;
  server.free[Resource::kMemoryMib] -= job.memory_mib_per_task;
  if (!place.device.valid() || !job.is_worker(task)) return;
  DeviceState& device = devices_[place.device.index()];
  device.free_milli -= job.gpu_milli_per_task;
  ++device.tasks;
  device.free_memory_mib -= job.gpu_memory_mib_per_task;
  server.free[Resource::kGpuMilli] -= job.gpu_milli_per_task;
}

void ClusterState::give(const Job& job, std::uint32_t task, const Placement& place) {
  ServerState& server = servers_[place.server.index()];
  server.free[Resource::kCpuMilli] += job.cpu_milli_per_task;
  server.free[Resource::kMemoryMib] += job.memory_mib_per_task;
  if (!place.device.valid() || !job.is_worker(task)) return;
  DeviceState& device = devices_[place.device.index()];
  device.free_milli += job.gpu_milli_per_task;
  --device.tasks;
  device.free_memory_mib += job.gpu_memory_mib_per_task;
  server.free[Resource::kGpuMilli] += job.gpu_milli_per_task;
}

// All or nothing.
std::string ClusterState::take_all(const Job& job, std::span<const TaskPlace> tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Obstacle found = obstacle(job, tasks[i]);
    if (found == Obstacle::kNone) {
      take(job, tasks[i].task, tasks[i].to);
      continue;
    }
    std::string why = in_words(found, job, tasks[i].to);
    while (i-- > 0) give(job, tasks[i].task, tasks[i].to);
    return why;
  }
  return {};
}

std::span<Placement> ClusterState::places_of(const Job& job) {
  return std::span(placements_).subspan(job.first_task, job.tasks);
}

// The places of the tasks are those that it begins with.
void ClusterState::begin(JobId id, TimeUs now_us) {
  JobState& state = states_[id.index()];
  state.status = JobStatus::kRunning;
  state.last_start_us = now_us;
  if (state.first_start_us == kNever) state.first_start_us = now_us;
  reasons_[id.index()] = {};
  --pending_;
  ++running_;
  log(ChangeKind::kJobStarted, id.value);
}

std::string ClusterState::start_tasks(JobId id, std::span<const TaskPlace> tasks, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  const Job& job = jobs_[id.index()];
  JobState& state = states_[id.index()];
  if (state.ended()) return fmt::format("job {} has ended", id.value);
  if (job.first_task == Job::kNoTasks) return fmt::format("job {} never fits", id.value);
  const bool pending = state.status == JobStatus::kPending;
  const std::span<Placement> places = places_of(job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].task >= job.tasks) return "no such task";
    if (!pending && places[tasks[i].task].server.valid()) return "a task that runs already";
    if (i > 0 && tasks[i].task <= tasks[i - 1].task) return "tasks out of order";
  }
  if (std::string why = take_all(job, tasks); !why.empty()) return why;
  if (pending && tasks.size() < job.tasks) std::ranges::fill(places, Placement{});
  state.tasks_placed += static_cast<std::uint32_t>(tasks.size());
  if (pending) {
    begin(id, now_us);
  } else {
    log(ChangeKind::kJobChanged, id.value);
  }
  ServerId last;
  for (const TaskPlace& task : tasks) {
    places[task.task] = task.to;
    if (task.to.server != last) log(ChangeKind::kServerChanged, task.to.server.value);
    last = task.to.server;
  }
  return {};
}

std::string ClusterState::move_tasks(JobId id, std::span<const TaskPlace> tasks, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  const Job& job = jobs_[id.index()];
  if (states_[id.index()].status != JobStatus::kRunning) {
    return fmt::format("job {} does not run", id.value);
  }
  const std::span<Placement> places = places_of(job);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].task >= job.tasks || !places[tasks[i].task].server.valid()) {
      return "a task that does not run";
    }
    if (i > 0 && tasks[i].task <= tasks[i - 1].task) return "tasks out of order";
  }
  for (const TaskPlace& task : tasks) give(job, task.task, places[task.task]);
  if (std::string why = take_all(job, tasks); !why.empty()) {
    for (const TaskPlace& task : tasks) take(job, task.task, places[task.task]);
    return why;
  }
  end_copies(id, now_us, kEveryCopy);
  states_[id.index()].last_move_us = now_us;
  log(ChangeKind::kJobMoved, id.value);
  for (const TaskPlace& task : tasks) {
    const std::array both{places[task.task], task.to};
    places[task.task] = task.to;
    log_servers(both);
  }
  return {};
}

std::vector<TaskCopy>::iterator ClusterState::find_copy(JobId id, const TaskPlace& copy) {
  return std::ranges::find_if(copies_, [&](const TaskCopy& other) {
    return other.job == id && other.task == copy.task && other.at == copy.to;
  });
}

double ClusterState::held_gpu_us(const TaskCopy& copy, TimeUs now_us) const {
  return static_cast<double>(now_us - copy.since_us) * jobs_[copy.job.index()].gpu_milli_per_task /
         static_cast<double>(kWholeGpuMilli);
}

double ClusterState::copies_held_gpu_us(TimeUs now_us) const {
  double sum = copies_held_gpu_us_;
  for (const TaskCopy& copy : copies_) sum += held_gpu_us(copy, now_us);
  return sum;
}

// Returns the next one.
std::vector<TaskCopy>::iterator ClusterState::end_copy(std::vector<TaskCopy>::iterator copy,
                                                       TimeUs now_us) {
  copies_held_gpu_us_ += held_gpu_us(*copy, now_us);
  give(jobs_[copy->job.index()], copy->task, copy->at);
  log(ChangeKind::kServerChanged, copy->at.server.value);
  return copies_.erase(copy);
}

template <class Ends>
void ClusterState::end_copies(JobId id, TimeUs now_us, const Ends& ends) {
  if (copies_.empty()) return;
  auto copy = std::ranges::lower_bound(copies_, id, {}, &TaskCopy::job);
  while (copy != copies_.end() && copy->job == id) {
    copy = ends(*copy) ? end_copy(copy, now_us) : copy + 1;
  }
}

std::string ClusterState::copy_task(JobId id, const TaskPlace& copy, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  const Job& job = jobs_[id.index()];
  if (states_[id.index()].status != JobStatus::kRunning || copy.task >= job.tasks ||
      !places_of(job)[copy.task].device.valid()) {
    return "a copy of a task that runs on no device";
  }
  if (copy.to.server == places_of(job)[copy.task].server) return "a copy beside its task";
  std::size_t others = 0;
  for (const TaskCopy& other : copies_of(id)) {
    if (other.task != copy.task) continue;
    if (other.at.server == copy.to.server) return "a second copy on one server";
    ++others;
  }
  if (others == kMostTaskCopies) return "too many copies of a task";
  if (std::string why = take_all(job, std::span(&copy, 1)); !why.empty()) return why;
  const auto after = std::ranges::upper_bound(
      copies_, std::pair(id, copy.task), {},
      [](const TaskCopy& other) { return std::pair(other.job, other.task); });
  copies_.insert(after, {id, copy.task, copy.to, now_us});
  log(ChangeKind::kJobChanged, id.value);
  log(ChangeKind::kServerChanged, copy.to.server.value);
  return {};
}

std::string ClusterState::drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us) {
  const auto found = find_copy(id, copy);
  if (found == copies_.end()) return "no such copy";
  log(ChangeKind::kJobChanged, id.value);
  end_copy(found, now_us);
  return {};
}

std::string ClusterState::take_over(JobId id, const TaskPlace& copy, TimeUs now_us) {
  const auto found = find_copy(id, copy);
  if (found == copies_.end()) return "no such copy";
  const Job& job = jobs_[id.index()];
  const std::array both{places_of(job)[copy.task], copy.to};
  copies_held_gpu_us_ += held_gpu_us(*found, now_us);
  copies_.erase(found);
  give(job, copy.task, both.front());
  places_of(job)[copy.task] = copy.to;
  states_[id.index()].last_move_us = now_us;
  log(ChangeKind::kJobMoved, id.value);
  log_servers(both);
  return {};
}

std::string ClusterState::remove_tasks(JobId id, std::span<const std::uint32_t> tasks,
                                       Departure why, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  const Job& job = jobs_[id.index()];
  JobState& state = states_[id.index()];
  if (state.status != JobStatus::kRunning) return fmt::format("job {} does not run", id.value);
  const std::span<Placement> places = places_of(job);
  for (const std::uint32_t task : tasks) {
    if (task >= job.tasks || !places[task].server.valid()) return "a task that does not run";
  }
  if (tasks.size() == state.tasks_placed) {
    become_pending(id, why, now_us);
    return {};
  }
  state.tasks_placed -= static_cast<std::uint32_t>(tasks.size());
  log(ChangeKind::kJobChanged, id.value);
  end_copies(id, now_us, [&](const TaskCopy& copy) {
    return std::ranges::find(tasks, copy.task) != tasks.end();
  });
  for (const std::uint32_t task : tasks) {
    give(job, task, places[task]);
    log_servers(std::span(&places[task], 1));
    places[task] = {};
  }
  return {};
}

void ClusterState::release(const Job& job) {
  const std::span<Placement> places = places_of(job);
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    if (places[k].server.valid()) give(job, k, places[k]);
  }
  log_servers(places);
}

void ClusterState::become_pending(JobId id, Departure why, TimeUs now_us) {
  JobState& state = states_[id.index()];
  state.attained_us += now_us - state.last_start_us;
  state.status = JobStatus::kPending;
  state.last_stop_us = now_us;
  state.tasks_placed = 0;
  ++(why == Departure::kEvicted ? state.evictions : state.preemptions);
  reasons_[id.index()] = {.code = why == Departure::kEvicted ? ReasonCode::kEvicted
                                                             : ReasonCode::kPreempted};
  --running_;
  ++pending_;
  log(ChangeKind::kJobPreempted, id.value);
  end_copies(id, now_us, kEveryCopy);
  release(jobs_[id.index()]);
}

std::string ClusterState::end_job(JobId id, JobStatus status, TimeUs now_us) {
  if (id.index() >= arrived_) return "no such job";
  JobState& state = states_[id.index()];
  if (state.ended()) return fmt::format("job {} has ended", id.value);
  const bool ran = state.status == JobStatus::kRunning;
  if (ran) state.attained_us += now_us - state.last_start_us;
  state.status = status;
  state.last_stop_us = now_us;
  state.tasks_placed = 0;
  reasons_[id.index()] = {};
  --(ran ? running_ : pending_);
  log(ChangeKind::kJobEnded, id.value);
  if (!ran) return {};
  end_copies(id, now_us, kEveryCopy);
  release(jobs_[id.index()]);
  return {};
}

void ClusterState::set_server_up(ServerId id, bool up) {
  if (std::exchange(servers_[id.index()].up, up) != up) log(ChangeKind::kServerChanged, id.value);
}

void ClusterState::set_device_up(DeviceId id, bool up) {
  if (std::exchange(devices_[id.index()].up, up) == up) return;
  log(ChangeKind::kServerChanged, cluster_->devices[id.index()].server.value);
}

void ClusterState::set_stop(JobId id, StopOption stop) {
  jobs_[id.index()].stop = stop;
  log(ChangeKind::kJobChanged, id.value);
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
  view.copies = copies_;
  view.devices = devices_;
  view.servers = servers_;
  view.graphs = graphs_;
  view.recent_changes = changes_;
  return view;
}

}  // namespace berth
