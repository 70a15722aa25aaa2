#include "engine/replica_execution.h"

#include <algorithm>

#include "base/huge_pages.h"
#include "base/int128.h"

namespace berth {

ReplicaExecution::ReplicaExecution(const Workload& workload, const ClusterState& state,
                                   ProgressRule rule, bool faults)
    : workload_(&workload),
      state_(&state),
      rule_(rule),
      tracks_tasks_(faults || !workload.training.jobs.empty()),
      timer_(state.cluster()),
      network_(state.cluster()),
      slots_(large_vector(workload.jobs.size(), std::uint32_t{kNoSlot})),
      outcomes_(workload.training.jobs.size()) {
  const Cluster& cluster = state.cluster();
  for (const Device& device : cluster.devices) {
    const std::int64_t slow =
        slowdown_of_speed(cluster.gpu_types[device.type.index()].speed_milli, kOncePpm);
    device_slow_ppm_.push_back(slow);
    all_at_once_ = all_at_once_ && slow == kOncePpm;
  }
  if (!tracks_tasks_) return;
  std::size_t tasks = 0;
  for (const Job& job : state.all_jobs()) {
    if (job.first_task != Job::kNoTasks) tasks = job.first_task + job.tasks;
  }
  server_tasks_.resize(cluster.servers.size());
  position_.resize(tasks);
  server_use_.resize(cluster.servers.size());
  device_use_.resize(cluster.gpus());
  overloaded_.resize(cluster.servers.size());
  devices_over_.resize(cluster.servers.size());
}

std::uint32_t ReplicaExecution::take_replicas(std::uint32_t count) {
  std::vector<std::uint32_t>& free = free_replicas_[count];
  if (!free.empty()) {
    const std::uint32_t first = free.back();
    free.pop_back();
    return first;
  }
  const auto first = static_cast<std::uint32_t>(replicas_.size());
  replicas_.resize(replicas_.size() + count);
  if (tracks_tasks_) network_.grow(replicas_.size());
  return first;
}

ReplicaExecution::JobRun& ReplicaExecution::open_run(JobId id) {
  std::uint32_t& slot = slots_[id.index()];
  if (slot != kNoSlot) return runs_[slot];
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(runs_.size()));
    runs_.emplace_back();
  }
  slot = free_slots_.back();
  free_slots_.pop_back();
  JobRun& run = runs_[slot];
  run = {};
  const std::uint32_t replicas = spec(id).replicas;
  run.first_replica = take_replicas(replicas);
  for (std::uint32_t r = 0; r < replicas; ++r) {
    replicas_[run.first_replica + r] = {.job = id};
  }
  run.target = units_of(iterations_to_run(id));
  return run;
}

void ReplicaExecution::close_run(JobId id, TimeUs now_us) {
  const JobRun& run = run_of(id);
  if (!outcomes_.empty()) outcomes_[id.index()] = outcome(id, now_us);
  kept_by_ended_ += run.done;
  free_replicas_[spec(id).replicas].push_back(run.first_replica);
  free_slots_.push_back(slots_[id.index()]);
  slots_[id.index()] = kNoSlot;
}

const TrainingTruth* ReplicaExecution::truth(JobId id) const {
  return workload_->training.jobs.empty() ? nullptr : &workload_->training.jobs[id.index()];
}

const TaskUse* ReplicaExecution::use(JobId id, std::uint32_t task) const {
  const TrainingTruth* training = truth(id);
  return training == nullptr ? nullptr : &workload_->training.uses[training->first_use + task];
}

std::span<const Placement> ReplicaExecution::places(JobId id) const {
  return state_->places_of(id);
}

std::uint32_t ReplicaExecution::replica_of(JobId id, std::uint32_t task) const {
  const Job& job = spec(id);
  const std::uint32_t first = run_of(id).first_replica;
  return job.replicas == 1 ? first : first + task / job.partitions();
}

bool ReplicaExecution::is_complete(JobId id, const ReplicaRun& replica) const {
  if (rule_ == ProgressRule::kPartial) return replica.placed > 0;
  const Job& job = spec(id);
  return replica.placed == job.partitions() &&
         (job.parameter_servers == 0 || run_of(id).parameter_server_placed);
}

bool ReplicaExecution::whole(JobId id) const {
  const Job& job = spec(id);
  const JobRun& run = run_of(id);
  for (std::uint32_t r = 0; r < job.replicas; ++r) {
    const ReplicaRun& replica = replicas_[run.first_replica + r];
    if (replica.placed != 0 && !is_complete(id, replica)) return false;
  }
  return true;
}

// By the stop option that holds now.
std::int64_t ReplicaExecution::iterations_to_run(JobId id) const {
  const TrainingTruth* training = truth(id);
  if (training == nullptr) return workload_->truths[id.index()].work_us;
  const Job& job = spec(id);
  if (job.stop == StopOption::kAccuracy && job.required_accuracy_ppm >= 0) {
    const double wanted = static_cast<double>(job.required_accuracy_ppm) / 1e6;
    return training->curve.first_reaching(wanted, training->iterations)
        .value_or(training->iterations);
  }
  return job.stop == StopOption::kOptStop ? training->curve.opt_stop_iteration(training->iterations)
                                          : training->iterations;
}

bool ReplicaExecution::ends_early(JobId id) const {
  const TrainingTruth* training = truth(id);
  const std::int64_t given =
      training == nullptr ? workload_->truths[id.index()].work_us : training->iterations;
  return run_of(id).target < units_of(given);
}

void ReplicaExecution::stop_at(JobId id, std::int64_t iterations) {
  JobRun& run = open_run(id);
  run.limit = std::min(run.limit, std::max<std::int64_t>(0, iterations));
  run.target = units_of(std::min(run.limit, iterations_to_run(id)));
  touch(id);
}

void ReplicaExecution::set_stop(JobId id) {
  stop_at(id, kNoLimit);
}

void ReplicaExecution::note_deadline(JobRun& run, JobId id, TimeUs now_us) const {
  const MaybeInt deadline_us = spec(id).deadline_us;
  if (run.by_deadline >= 0 || !deadline_us.known() || now_us < deadline_us.value()) return;
  const TimeUs ran_us = std::max<TimeUs>(0, deadline_us.value() - run.since_us);
  run.by_deadline =
      iterations_of(std::max(run.done, std::min(run.target, run.done + run.rate * ran_us)));
}

double ReplicaExecution::held_gpu_us(const JobRun& run, JobId id, TimeUs passed_us) const {
  return static_cast<double>(passed_us) * run.workers_placed * spec(id).gpu_milli_per_task /
         static_cast<double>(kWholeGpuMilli);
}

void ReplicaExecution::settle(JobRun& run, JobId id, TimeUs now_us) {
  note_deadline(run, id, now_us);
  const TimeUs passed_us = now_us - run.since_us;
  run.since_us = now_us;
  if (passed_us == 0) return;
  run.held_gpu_us += held_gpu_us(run, id, passed_us);
  if (run.rate == 0) return;
  const WorkUnits gained =
      std::max<WorkUnits>(0, std::min(run.target - run.done, run.rate * passed_us));
  run.done += gained;
  totals_.run += gained;
  totals_.inter_server_bytes += run.bytes_per_us * static_cast<double>(passed_us);
}

// Iterations that are still there when the last replica has left.
std::int64_t ReplicaExecution::kept_after(JobId id, Departure why) const {
  const JobRun& run = run_of(id);
  const TrainingTruth* training = truth(id);
  const std::int64_t done = iterations_of(run.done);
  if (why == Departure::kPreempted && (training == nullptr || training->checkpoint_on_stop)) {
    return done;
  }
  if (training == nullptr || training->checkpoint_iterations == 0) return run.saved;
  return std::max(run.saved, done - done % training->checkpoint_iterations);
}

void ReplicaExecution::fall_back(JobRun& run, JobId id, Departure why) {
  const TrainingTruth* training = truth(id);
  run.saved = kept_after(id, why);
  run.owes_checkpoint =
      why == Departure::kPreempted && training != nullptr && training->checkpoint_on_stop;
  totals_.lost += run.done - units_of(run.saved);
  run.done = units_of(run.saved);
}

void ReplicaExecution::touch(JobId id) {
  JobRun& run = run_of(id);
  if (run.touched) return;
  run.touched = true;
  touched_.push_back(id);
}

void ReplicaExecution::mark_replica(std::uint32_t replica) {
  if (replicas_[replica].dirty) return;
  replicas_[replica].dirty = true;
  dirty_.push_back(replica);
}

// All replicas: they exchange with each other.
void ReplicaExecution::mark_job(JobId id) {
  touch(id);
  const std::uint32_t first = run_of(id).first_replica;
  for (std::uint32_t r = 0; r < spec(id).replicas; ++r) mark_replica(first + r);
}

// Whoever has a task there, or only on that device.
void ReplicaExecution::mark_server(ServerId server, DeviceId only_device) {
  for (const TaskRef& ref : server_tasks_[server.index()]) {
    if (only_device.valid() && places(ref.job)[ref.task].device != only_device) continue;
    if (spec(ref.job).is_worker(ref.task)) mark_replica(replica_of(ref.job, ref.task));
  }
  for (const CopyRun& copy : copies_) {
    const Placement& at = copy.place.to;
    if (at.server != server || (only_device.valid() && at.device != only_device)) continue;
    mark_replica(replica_of(copy.job, copy.place.task));
  }
}

void ReplicaExecution::change_use(JobId id, const TaskPlace& place, int sign) {
  const TaskUse* own = use(id, place.task);
  if (own == nullptr) return;
  const ServerId server = place.to.server;
  const ResourceVector& capacity = state_->cluster().servers[server.index()].capacity;
  ServerUse& all = server_use_[server.index()];
  const bool was_over = all.overloaded(capacity);
  all.add(*own, sign);
  if (was_over || all.overloaded(capacity)) mark_server(server, {});
  if (place.to.device.valid()) {
    DeviceUse& device = device_use_[place.to.device.index()];
    const bool device_was_over = device.overloaded();
    device.add(*own, sign);
    devices_over_[server.index()] += static_cast<std::uint32_t>(device.overloaded()) -
                                     static_cast<std::uint32_t>(device_was_over);
    if (device.tasks > 0) mark_server(server, place.to.device);
  }
  changed_servers_.push_back(server.value);
}

void ReplicaExecution::attach(JobId id, const TaskPlace& place) {
  JobRun& run = run_of(id);
  if (spec(id).is_worker(place.task)) {
    ++run.workers_placed;
    ++replicas_[replica_of(id, place.task)].placed;
  } else {
    run.parameter_server_placed = true;
  }
  if (!tracks_tasks_) return;
  change_use(id, place, 1);
  std::vector<TaskRef>& here = server_tasks_[place.to.server.index()];
  position_[spec(id).first_task + place.task] = static_cast<std::uint32_t>(here.size());
  here.push_back({id, place.task});
}

void ReplicaExecution::detach(JobId id, const TaskPlace& place) {
  JobRun& run = run_of(id);
  if (spec(id).is_worker(place.task)) {
    --run.workers_placed;
    --replicas_[replica_of(id, place.task)].placed;
  } else {
    run.parameter_server_placed = false;
  }
  if (!tracks_tasks_) return;
  std::vector<TaskRef>& here = server_tasks_[place.to.server.index()];
  const std::uint32_t position = position_[spec(id).first_task + place.task];
  here[position] = here.back();
  here.pop_back();
  if (position < here.size()) {
    position_[spec(here[position].job).first_task + here[position].task] = position;
  }
  change_use(id, place, -1);
}

std::span<const ReplicaExecution::CopyRun> ReplicaExecution::copies_of(JobId id) const {
  if (copies_.empty()) return {};
  return {std::ranges::lower_bound(copies_, id, {}, &CopyRun::job),
          std::ranges::upper_bound(copies_, id, {}, &CopyRun::job)};
}

// Those of the job for which it holds.
template <class Ends>
void ReplicaExecution::end_copies(JobId id, const Ends& ends) {
  if (copies_.empty()) return;
  auto copy = std::ranges::lower_bound(copies_, id, {}, &CopyRun::job);
  while (copy != copies_.end() && copy->job == id) {
    if (!ends(copy->place)) {
      ++copy;
      continue;
    }
    const TaskPlace place = copy->place;
    copy = copies_.erase(copy);
    change_use(id, place, -1);
  }
}

// A task's part of its job's state.
std::int64_t ReplicaExecution::state_bytes(JobId id, std::uint32_t task) const {
  const TrainingTruth* training = truth(id);
  if (training == nullptr) return 0;
  const Job& job = spec(id);
  if (!job.is_worker(task) || !job.graph.valid()) return training->state_bytes;
  const TaskGraph& graph = workload_->graphs[job.graph.index()];
  const std::int64_t all = graph.parameters();
  const std::int64_t part = graph.tasks[task % job.partitions()].parameters;
  if (all <= 0) return training->state_bytes / job.partitions();
  return static_cast<std::int64_t>(static_cast<Int128>(training->state_bytes) * part / all);
}

TimeUs ReplicaExecution::resume_us(JobRun& run, JobId id, std::span<const TaskPlace> tasks,
                                   std::span<const Placement> before) {
  const TrainingTruth* training = truth(id);
  if (training == nullptr || !run.ran) return 0;
  Picoseconds longest = 0;
  for (const TaskPlace& task : tasks) {
    const ServerId from = before[task.task].server;
    if (!from.valid() || from == task.to.server) continue;
    const std::int64_t bytes = state_bytes(id, task.task);
    longest = std::max(longest, timer_.transfer(from, task.to.server, bytes));
    totals_.inter_server_bytes += static_cast<double>(bytes);
  }
  const TimeUs transfer_us = (longest + kPicosecondsPerUs - 1) / kPicosecondsPerUs;
  const bool owes = std::exchange(run.owes_checkpoint, false);
  return transfer_us + (owes ? training->checkpoint_us : 0);
}

// Replicas that are complete now and were not are ready then; those that no longer are, never.
void ReplicaExecution::complete(JobRun& run, JobId id, TimeUs ready_us) {
  run.complete = 0;
  for (std::uint32_t r = 0; r < spec(id).replicas; ++r) {
    ReplicaRun& replica = replicas_[run.first_replica + r];
    if (!is_complete(id, replica)) {
      replica.ready_us = kNever;
      continue;
    }
    ++run.complete;
    if (replica.ready_us == kNever) replica.ready_us = ready_us;
  }
  if (run.complete > 0) run.ran = true;
}

void ReplicaExecution::start(JobId id, std::span<const TaskPlace> tasks,
                             std::span<const Placement> before, TimeUs now_us) {
  JobRun& run = open_run(id);
  settle(run, id, now_us);
  const TrainingTruth* training = truth(id);
  TimeUs ready_us = now_us + (training == nullptr ? 0 : training->load_us);
  // Beside replicas that run, a new one has its state from them.
  if (run.complete == 0) ready_us += resume_us(run, id, tasks, before);
  for (const TaskPlace& task : tasks) attach(id, task);
  complete(run, id, ready_us);
  mark_job(id);
}

void ReplicaExecution::leave(JobId id, std::span<const std::uint32_t> tasks, Departure why,
                             TimeUs now_us) {
  JobRun& run = run_of(id);
  settle(run, id, now_us);
  const bool computed = run.complete > 0;
  end_copies(id, [&](const TaskPlace& copy) {
    return std::ranges::find(tasks, copy.task) != tasks.end();
  });
  for (const std::uint32_t task : tasks) detach(id, {task, places(id)[task]});
  complete(run, id, kNever);
  if (computed && run.complete == 0) fall_back(run, id, why);
  mark_job(id);
}

void ReplicaExecution::move(JobId id, std::span<const TaskPlace> tasks,
                            std::span<const Placement> before, TimeUs now_us) {
  JobRun& run = run_of(id);
  settle(run, id, now_us);
  const TrainingTruth* training = truth(id);
  const bool server_moves = !spec(id).is_worker(tasks.back().task);
  std::uint32_t paused = 0;
  for (std::uint32_t r = 0; r < spec(id).replicas; ++r) {
    ReplicaRun& replica = replicas_[run.first_replica + r];
    const bool moves = server_moves || std::ranges::any_of(tasks, [&](const TaskPlace& task) {
                         return replica_of(id, task.task) == run.first_replica + r;
                       });
    if (!moves || replica.ready_us == kNever) continue;
    replica.ready_us = kNever;
    ++paused;
  }
  if (paused > 0 && paused == run.complete) fall_back(run, id, Departure::kPreempted);
  const TimeUs ready_us =
      now_us + resume_us(run, id, tasks, before) + (training == nullptr ? 0 : training->load_us);
  end_copies(id, [](const TaskPlace& /*copy*/) { return true; });
  for (const TaskPlace& task : tasks) {
    detach(id, {task.task, before[task.task]});
    attach(id, task);
  }
  totals_.migrations += tasks.size();
  complete(run, id, ready_us);
  mark_job(id);
}

// Its state comes from its task, which goes on meanwhile.
void ReplicaExecution::copy(JobId id, const TaskPlace& copy, TimeUs now_us) {
  settle(run_of(id), id, now_us);
  const TimeUs task_ready_us = replicas_[replica_of(id, copy.task)].ready_us;
  TimeUs ready_us = task_ready_us == kNever ? now_us : std::max(now_us, task_ready_us);
  if (const TrainingTruth* const training = truth(id)) {
    const std::int64_t bytes = state_bytes(id, copy.task);
    const ServerId from = places(id)[copy.task].server;
    const Picoseconds transfer = timer_.transfer(from, copy.to.server, bytes);
    totals_.inter_server_bytes += static_cast<double>(bytes);
    ready_us += (transfer + kPicosecondsPerUs - 1) / kPicosecondsPerUs + training->load_us;
  }
  const auto after = std::ranges::upper_bound(copies_, id, {}, &CopyRun::job);
  copies_.insert(after, {id, copy, ready_us});
  change_use(id, copy, 1);
  mark_job(id);
}

void ReplicaExecution::drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us) {
  settle(run_of(id), id, now_us);
  end_copies(id, [&](const TaskPlace& other) { return other == copy; });
  mark_job(id);
}

void ReplicaExecution::take_over(JobId id, const TaskPlace& copy, const Placement& before,
                                 TimeUs now_us) {
  settle(run_of(id), id, now_us);
  end_copies(id, [&](const TaskPlace& other) { return other == copy; });
  detach(id, {copy.task, before});
  attach(id, copy);
  mark_job(id);
}

bool ReplicaExecution::copy_is_ready(JobId id, const TaskPlace& copy, TimeUs now_us) const {
  return std::ranges::any_of(copies_of(id), [&](const CopyRun& other) {
    return other.place == copy && other.ready_us <= now_us;
  });
}

void ReplicaExecution::end(JobId id, TimeUs now_us) {
  if (!has_run(id)) return;
  JobRun& run = run_of(id);
  settle(run, id, now_us);
  end_copies(id, [](const TaskPlace& /*copy*/) { return true; });
  const std::span<const Placement> at = places(id);
  if (tracks_tasks_ && (run.workers_placed > 0 || run.parameter_server_placed)) {
    for (std::uint32_t k = 0; k < at.size(); ++k) {
      if (at[k].server.valid()) detach(id, {k, at[k]});
    }
    for (std::uint32_t r = 0; r < spec(id).replicas; ++r) {
      if (replicas_[run.first_replica + r].bytes > 0) network_.set(run.first_replica + r, {}, 1);
    }
  }
  close_run(id, now_us);
}

void ReplicaExecution::set_device_speed(DeviceId id, std::int32_t speed_ppm) {
  const Device& device = state_->cluster().devices[id.index()];
  const GpuType& type = state_->cluster().gpu_types[device.type.index()];
  device_slow_ppm_[id.index()] = slowdown_of_speed(type.speed_milli, speed_ppm);
  all_at_once_ = false;
  mark_server(device.server, id);
}

bool ReplicaExecution::due(const FutureEvent& event, TimeUs now_us) {
  const JobId id{event.id};
  if (!has_run(id) || event.generation != run_of(id).generation) return false;
  JobRun& run = run_of(id);
  run.next_us = kNever;
  settle(run, id, now_us);
  if (run.done >= run.target) return true;
  touch(id);
  for (const CopyRun& copy : copies_of(id)) {
    if (copy.ready_us == now_us) mark_replica(replica_of(id, copy.place.task));
  }
  return false;
}

std::int64_t ReplicaExecution::slowdown_ppm(JobId id, std::uint32_t task,
                                            const Placement& at) const {
  std::int64_t factor = at.device.valid() ? device_slow_ppm_[at.device.index()] : kOncePpm;
  const TaskUse* own = use(id, task);
  if (own == nullptr) return factor;
  if (at.device.valid()) {
    factor = times_ppm(factor, sharing_slowdown_ppm(*own, device_use_[at.device.index()]));
  }
  const ResourceVector& capacity = state_->cluster().servers[at.server.index()].capacity;
  return times_ppm(factor, overload_slowdown_ppm(*own, server_use_[at.server.index()], capacity));
}

// Fills ready_copies_, by partition.
void ReplicaExecution::list_ready_copies(JobId id, std::uint32_t replica, TimeUs now_us) {
  ready_copies_.clear();
  if (copies_.empty()) return;
  const std::uint32_t partitions = spec(id).partitions();
  for (const CopyRun& copy : copies_of(id)) {
    const auto& [task, at] = copy.place;
    if (task / partitions != replica || copy.ready_us > now_us) continue;
    ready_copies_.push_back({task % partitions, at.server, slowdown_ppm(id, task, at)});
  }
  std::ranges::stable_sort(ready_copies_, {}, &CopyPace::partition);
}

void ReplicaExecution::update_replica(std::uint32_t index, TimeUs now_us) {
  ReplicaRun& replica = replicas_[index];
  if (!replica.dirty) return;  // its job ended, and another has the place
  replica.dirty = false;
  const JobId id = replica.job;
  if (!has_run(id)) return;
  touch(id);
  const bool sent = replica.bytes > 0;
  replica.bytes = 0;
  pairs_.clear();
  if (replica.ready_us == kNever) {
    if (sent) network_.set(index, pairs_, 1);
    return;
  }
  const Job& job = spec(id);
  if (!job.graph.valid() && all_at_once_ && truth(id) == nullptr) {
    replica.pace = kPicosecondsPerUs;  // as-traced, nothing slow: the usual case
    return;
  }
  const std::uint32_t partitions = job.partitions();
  const std::uint32_t r = index - run_of(id).first_replica;
  const auto all = places(id);
  ReplicaPlaces at{
      .own = all.subspan(r * partitions, partitions), .next = {}, .parameter_server = {}};
  slow_.assign(partitions, kOncePpm);
  for (std::uint32_t k = 0; k < partitions; ++k) {
    if (at.own[k].server.valid()) slow_[k] = slowdown_ppm(id, r * partitions + k, at.own[k]);
  }
  list_ready_copies(id, r, now_us);
  if (!job.graph.valid()) {
    for (const CopyPace& copy : ready_copies_) {
      std::int64_t& slow = slow_[copy.partition];
      slow = std::min(slow, copy.slowdown_ppm);
    }
    replica.pace = *std::ranges::max_element(slow_);  // an iteration is a microsecond
    return;
  }
  const std::uint32_t next = (r + 1) % job.replicas;
  if (next != r && replicas_[run_of(id).first_replica + next].ready_us != kNever) {
    at.next = all.subspan(next * partitions, partitions);
  }
  if (job.parameter_servers > 0) at.parameter_server = all[job.workers()];
  const TaskGraph& graph = workload_->graphs[job.graph.index()];
  const Picoseconds alone = ready_copies_.empty()
                                ? timer_.alone(graph, at, slow_, pairs_)
                                : timer_.with_copies(graph, at, slow_, ready_copies_, pairs_);
  replica.pace = std::max<Picoseconds>(1, alone);
  const TrainingTruth& training = *truth(id);
  if (training.checkpoint_iterations > 0) {
    const std::int64_t every = training.checkpoint_iterations;
    const auto checkpoint = static_cast<Int128>(training.checkpoint_us) * kPicosecondsPerUs;
    replica.pace = bounded(replica.pace + divide_up(checkpoint, every));
  }
  if (rule_ == ProgressRule::kPartial) {
    replica.pace = bounded(static_cast<Int128>(replica.pace) * partitions / replica.placed);
  }
  for (const PairBytes& pair : pairs_) replica.bytes += pair.bytes;
  if (sent || replica.bytes > 0) network_.set(index, pairs_, replica.pace);
}

bool ReplicaExecution::update_job(JobId id, TimeUs now_us, EventQueue& queue) {
  JobRun& run = run_of(id);
  run.touched = false;
  settle(run, id, now_us);
  run.rate = 0;
  run.bytes_per_us = 0;
  TimeUs next_us = kNever;
  for (std::uint32_t r = 0; r < spec(id).replicas; ++r) {
    const ReplicaRun& replica = replicas_[run.first_replica + r];
    if (replica.ready_us > now_us) {
      next_us = std::min(next_us, replica.ready_us);
      continue;
    }
    Picoseconds iteration = replica.pace;
    if (replica.bytes > 0) iteration = std::max(iteration, network_.least(run.first_replica + r));
    run.rate += rate_of(iteration);
    if (run.least_iteration == 0 || iteration < run.least_iteration) {
      run.least_iteration = iteration;
    }
    if (replica.bytes > 0) {
      run.bytes_per_us += static_cast<double>(replica.bytes) *
                          (static_cast<double>(kPicosecondsPerUs) / static_cast<double>(iteration));
    }
  }
  if (run.complete > 0) {
    for (const CopyRun& copy : copies_of(id)) {
      if (copy.ready_us > now_us) next_us = std::min(next_us, copy.ready_us);
    }
    const TimeUs left_us = time_for(run.target - run.done, run.rate);
    if (left_us >= kNever - now_us && next_us == kNever) return false;
    if (left_us < kNever) next_us = std::min(next_us, now_us + left_us);
  }
  if (next_us == run.next_us) return true;
  run.next_us = next_us;
  ++run.generation;
  if (next_us != kNever) queue.push({next_us, id.value, run.generation});
  return true;
}

void ReplicaExecution::count_overloads() {
  for (const std::uint32_t s : changed_servers_) {
    const bool over =
        devices_over_[s] > 0 || server_use_[s].overloaded(state_->cluster().servers[s].capacity);
    if (over && overloaded_[s] == 0) ++totals_.overloads;
    overloaded_[s] = over ? 1 : 0;
  }
  changed_servers_.clear();
}

bool ReplicaExecution::refresh(TimeUs now_us, EventQueue& queue) {
  for (const std::uint32_t replica : dirty_) update_replica(replica, now_us);
  dirty_.clear();
  if (tracks_tasks_) {
    rerated_.clear();
    network_.resolve(rerated_);
    for (const std::uint32_t replica : rerated_) touch(replicas_[replica].job);
    count_overloads();
  }
  for (const JobId id : touched_) {
    if (has_run(id) && !update_job(id, now_us, queue)) return false;
  }
  touched_.clear();
  return true;
}

void ReplicaExecution::failing_with(JobId id, std::uint32_t task,
                                    std::vector<std::uint32_t>& tasks) const {
  const Job& job = spec(id);
  const JobRun& run = run_of(id);
  const std::uint32_t lost = job.is_worker(task) ? replica_of(id, task) : 0;
  bool others = false;
  for (std::uint32_t r = 0; r < job.replicas; ++r) {
    const std::uint32_t index = run.first_replica + r;
    others = others || (index != lost && replicas_[index].ready_us != kNever);
  }
  const bool all = !job.is_worker(task) || !others;
  const std::uint32_t first = all ? 0 : (lost - run.first_replica) * job.partitions();
  const std::uint32_t count = all ? job.tasks : job.partitions();
  tasks.clear();
  for (std::uint32_t k = first; k < first + count; ++k) {
    if (places(id)[k].server.valid()) tasks.push_back(k);
  }
}

void ReplicaExecution::tasks_at(ServerId server, DeviceId device,
                                std::vector<std::pair<JobId, std::uint32_t>>& out) const {
  out.clear();
  for (const TaskRef& ref : server_tasks_[server.index()]) {
    if (device.valid() && places(ref.job)[ref.task].device != device) continue;
    out.emplace_back(ref.job, ref.task);
  }
  std::sort(out.begin(), out.end());
}

std::int64_t ReplicaExecution::iterations(JobId id, TimeUs now_us) const {
  if (!has_run(id)) return 0;
  const JobRun& run = run_of(id);
  // A stop decision may have put the target behind what is done.
  const WorkUnits reached = std::min(run.target, run.done + run.rate * (now_us - run.since_us));
  return iterations_of(std::max(run.done, reached));
}

double ReplicaExecution::iterations_per_s(JobId id) const {
  return has_run(id) ? per_s_of(run_of(id).rate) : 0.0;
}

double ReplicaExecution::best_replica_iterations_per_s(JobId id) const {
  return has_run(id) ? per_s_of(run_of(id).least_iteration) : 0.0;
}

JobOutcome ReplicaExecution::outcome(JobId id, TimeUs now_us) const {
  if (!has_run(id)) return {};
  JobRun run = run_of(id);
  note_deadline(run, id, now_us);
  const std::int64_t done = iterations(id, now_us);
  return {.iterations = done,
          .iterations_by_deadline = run.by_deadline >= 0 ? run.by_deadline : done,
          .held_gpu_us = run.held_gpu_us + held_gpu_us(run, id, now_us - run.since_us)};
}

std::vector<JobOutcome> ReplicaExecution::outcomes(TimeUs now_us) {
  for (std::size_t j = 0; j < outcomes_.size(); ++j) {
    if (has_run(JobId{j})) outcomes_[j] = outcome(JobId{j}, now_us);
  }
  return std::move(outcomes_);
}

bool ReplicaExecution::work_is_conserved() const {
  WorkUnits kept = kept_by_ended_;
  for (const std::uint32_t slot : slots_) {
    if (slot != kNoSlot) kept += runs_[slot].done;
  }
  return kept + totals_.lost == totals_.run;
}

}  // namespace berth
