#include "engine/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/huge_pages.h"
#include "engine/event_queue.h"
#include "engine/invariants.h"
#include "engine/simulated_telemetry.h"
#include "policy/common/cached_policy.h"

namespace berth {
namespace {

std::uint32_t elapsed_ns(std::chrono::steady_clock::time_point since) {
  const auto ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - since)
          .count();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(ns, 0xFFFFFFFF));
}

std::vector<Job> copy_of(const std::vector<Job>& jobs) {
  std::vector<Job> copy;
  copy.reserve(jobs.size());
  use_huge_pages(copy);
  copy.assign(jobs.begin(), jobs.end());
  return copy;
}

class Simulation {
 public:
  Simulation(const Cluster& cluster, const Workload& workload, Policy& policy,
             Predictors& predictors, const SimulationOptions& options)
      : workload_(workload),
        policy_(policy),
        predictors_(predictors),
        options_(options),
        log_(options.log != nullptr ? *options.log : silent_log_),
        state_(cluster, copy_of(workload.jobs), workload.graphs),
        execution_(
            make_execution(workload, state_, options.progress_rule, !options.faults.empty())),
        rng_(Rng(options.seed).fork("policy")),
        drop_rng_(Rng(options.seed).fork("drop-caches")) {}

  Result<SimulationResult> run();

 private:
  [[nodiscard]] TimeUs next_sure_instant(TimeUs wake_us) const;
  [[nodiscard]] TimeUs next_instant() const;
  [[nodiscard]] bool nothing_to_come() const;
  bool complete_jobs();
  bool apply_faults();
  void take_down(ServerId server, DeviceId device);
  void drop_copy(JobId id, const TaskPlace& copy);
  void drop_copies_at(ServerId server, DeviceId device);
  bool take_over(JobId id, std::uint32_t task);
  bool admit_arrivals();
  Status decide();
  Status apply();
  void tell_reasons() const;
  Status apply_start(std::size_t& next);
  Status apply_move(std::size_t& next);
  Status apply_copy(std::size_t action);
  Status apply_preempt(std::size_t action);
  Status apply_stop(std::size_t action);
  Status read_tasks(std::size_t& next);
  void remove(JobId id, Departure why);
  void record(EventKind kind, JobId id) {
    log_.record(now_us_, kind, id.value, state_.places_of(id), state_.copies_of(id));
  }
  [[nodiscard]] Status refused(std::size_t action, const std::string& why) const;
  void finish(JobId id, JobStatus status, EventKind kind);
  void note_deadlock();
  SimulationResult harvest();

  const Workload& workload_;
  Policy& policy_;
  Predictors& predictors_;
  const SimulationOptions& options_;
  EventLog silent_log_;
  EventLog& log_;
  ClusterState state_;
  std::unique_ptr<Execution> execution_;
  std::vector<DeviceSpeed> device_speeds_{state_.cluster().gpus()};  // by DeviceId
  SimulatedTelemetry telemetry_{workload_, state_, *execution_, device_speeds_, now_us_};
  Rng rng_;
  Rng drop_rng_;
  EventQueue queue_;
  std::size_t next_fault_ = 0;
  InvariantChecker checker_{options_.progress_rule == ProgressRule::kWhole};
  TimeUs now_us_ = 0;
  TimeUs wake_us_ = kNever;
  int idle_wakes_ = 0;  // in a row
  std::size_t ended_ = 0;
  std::size_t never_ = 0;
  Plan plan_;
  // Scratch.
  std::vector<TaskPlace> tasks_;
  std::vector<Placement> before_;
  std::vector<std::uint32_t> leaving_;
  std::vector<std::pair<JobId, std::uint32_t>> hit_;
  std::vector<TaskCopy> copies_hit_;
  SimulationResult result_;
};

// What comes whatever the policy decides, and `wake_us`.
TimeUs Simulation::next_sure_instant(TimeUs wake_us) const {
  TimeUs next = wake_us;
  if (state_.arrived() < workload_.jobs.size()) {
    next = std::min(next, workload_.jobs[state_.arrived()].submit_us);
  }
  if (next_fault_ < options_.faults.size()) {
    next = std::min(next, options_.faults[next_fault_].at_us);
  }
  return next;
}

TimeUs Simulation::next_instant() const {
  TimeUs next = next_sure_instant(wake_us_);
  if (!queue_.empty()) next = std::min(next, queue_.top().at_us);
  return next;
}

void Simulation::finish(JobId id, JobStatus status, EventKind kind) {
  execution_->end(id, now_us_);
  // The status was checked by the caller: a refusal here would be a bug of the engine.
  [[maybe_unused]] const std::string why = state_.end_job(id, status, now_us_);
  assert(why.empty());
  // One that never fits may be stopped all the same; it counts once.
  if (never_ > 0 && never_reason(state_.cluster(), state_.job(id)).code != ReasonCode::kNone) {
    --never_;
  }
  ++ended_;
  result_.end_us = now_us_;
  log_.record(now_us_, kind, id.value);
}

bool Simulation::complete_jobs() {
  bool any = false;
  while (!queue_.empty() && queue_.top().at_us == now_us_) {
    const FutureEvent event = queue_.top();
    queue_.pop();
    if (!execution_->due(event, now_us_)) continue;
    const JobId id{event.id};
    const bool early = execution_->ends_early(id);
    finish(id, early ? JobStatus::kStopped : JobStatus::kFinished,
           early ? EventKind::kStop : EventKind::kFinish);
    any = true;
  }
  return any;
}

// The tasks of leaving_ leave.
void Simulation::remove(JobId id, Departure why) {
  const bool last = leaving_.size() == state_.state(id).tasks_placed;
  execution_->leave(id, leaving_, why, now_us_);
  [[maybe_unused]] const std::string refusal = state_.remove_tasks(id, leaving_, why, now_us_);
  assert(refusal.empty());
  if (!last) {
    record(EventKind::kShrink, id);
  } else if (why == Departure::kEvicted) {
    ++result_.evictions;
    log_.record(now_us_, EventKind::kEvict, id.value);
  } else {
    ++result_.preemptions;
    log_.record(now_us_, EventKind::kPreempt, id.value);
  }
}

void Simulation::drop_copy(JobId id, const TaskPlace& copy) {
  execution_->drop_copy(id, copy, now_us_);
  [[maybe_unused]] const std::string why = state_.drop_copy(id, copy, now_us_);
  assert(why.empty());
  record(EventKind::kDropCopy, id);
}

void Simulation::drop_copies_at(ServerId server, DeviceId device) {
  copies_hit_.clear();
  for (const TaskCopy& copy : state_.copies()) {
    const bool hit = device.valid() ? copy.at.device == device : copy.at.server == server;
    if (hit) copies_hit_.push_back(copy);
  }
  for (const TaskCopy& copy : copies_hit_) drop_copy(copy.job, {copy.task, copy.at});
}

// Whether the task, which fails, has a copy that has loaded: the oldest of these goes on.
bool Simulation::take_over(JobId id, std::uint32_t task) {
  for (const TaskCopy& copy : state_.copies_of(id)) {
    const TaskPlace place{copy.task, copy.at};
    if (copy.task != task || !execution_->copy_is_ready(id, place, now_us_)) continue;
    const Placement before = state_.places_of(id)[task];
    [[maybe_unused]] const std::string why = state_.take_over(id, place, now_us_);
    assert(why.empty());
    execution_->take_over(id, place, before, now_us_);
    record(EventKind::kTakeOver, id);
    return true;
  }
  return false;
}

// Whatever runs on the server, or on the device alone, leaves.
void Simulation::take_down(ServerId server, DeviceId device) {
  drop_copies_at(server, device);
  execution_->tasks_at(server, device, hit_);
  for (const auto& [id, task] : hit_) {
    // Its replica may have left already, with another of its tasks.
    if (state_.state(id).status != JobStatus::kRunning ||
        !state_.places_of(id)[task].server.valid()) {
      continue;
    }
    if (take_over(id, task)) continue;
    execution_->failing_with(id, task, leaving_);
    remove(id, Departure::kEvicted);
  }
}

bool Simulation::apply_faults() {
  bool any = false;
  for (; next_fault_ < options_.faults.size(); ++next_fault_) {
    const FaultEvent& fault = options_.faults[next_fault_];
    if (fault.at_us > now_us_) break;
    any = true;
    const Cluster& cluster = state_.cluster();
    switch (fault.kind) {
      case FaultKind::kServerDown:
        log_.record(now_us_, EventKind::kServerDown, fault.id);
        take_down(ServerId{fault.id}, {});
        state_.set_server_up(ServerId{fault.id}, false);
        break;
      case FaultKind::kServerUp:
        log_.record(now_us_, EventKind::kServerUp, fault.id);
        state_.set_server_up(ServerId{fault.id}, true);
        break;
      case FaultKind::kDeviceDown:
        log_.record(now_us_, EventKind::kDeviceDown, fault.id);
        take_down(cluster.devices[fault.id].server, DeviceId{fault.id});
        state_.set_device_up(DeviceId{fault.id}, false);
        break;
      case FaultKind::kDeviceUp:
        log_.record(now_us_, EventKind::kDeviceUp, fault.id);
        state_.set_device_up(DeviceId{fault.id}, true);
        break;
      case FaultKind::kDeviceSpeed:
        log_.record(now_us_, EventKind::kDeviceSpeed, fault.id);
        execution_->set_device_speed(DeviceId{fault.id}, fault.speed_ppm);
        device_speeds_[fault.id] = {fault.speed_ppm / 1e6, now_us_};
        break;
    }
  }
  return any;
}

bool Simulation::admit_arrivals() {
  bool any = false;
  while (state_.arrived() < workload_.jobs.size() &&
         workload_.jobs[state_.arrived()].submit_us == now_us_) {
    const JobId id = state_.arrive();
    log_.record(now_us_, EventKind::kArrive, id.value);
    if (never_reason(state_.cluster(), state_.job(id)).code != ReasonCode::kNone) ++never_;
    any = true;
  }
  return any;
}

Status Simulation::refused(std::size_t action, const std::string& why) const {
  return fail(internal_error(
      fmt::format("at {} us the policy's action {} cannot be applied: {}", now_us_, action, why)));
}

// The tasks and places of an action, and where its job's tasks were before.
Status Simulation::read_tasks(std::size_t& next) {
  const Action& first = plan_.actions[next];
  if (first.job.index() >= state_.arrived()) return refused(next, "no such job");
  next = read_group(plan_.actions, next, tasks_);
  // As-traced jobs bring nothing from where they were.
  if (first.kind == ActionKind::kMoveTask || !workload_.training.jobs.empty()) {
    const std::span<const Placement> places = state_.places_of(first.job);
    before_.assign(places.begin(), places.end());
  }
  return {};
}

Status Simulation::apply_start(std::size_t& next) {
  const std::size_t first = next;
  const JobId id = plan_.actions[first].job;
  BERTH_CHECK_OK(read_tasks(next));
  const bool pending = state_.state(id).status == JobStatus::kPending;
  if (const std::string why = state_.start_tasks(id, tasks_, now_us_); !why.empty()) {
    return refused(first, why);
  }
  execution_->start(id, tasks_, before_, now_us_);
  if (options_.progress_rule == ProgressRule::kWhole && !execution_->whole(id)) {
    return refused(first, "a part of a replica");
  }
  record(pending ? EventKind::kStart : EventKind::kGrow, id);
  return {};
}

Status Simulation::apply_move(std::size_t& next) {
  const std::size_t first = next;
  const JobId id = plan_.actions[first].job;
  BERTH_CHECK_OK(read_tasks(next));
  if (const std::string why = state_.move_tasks(id, tasks_, now_us_); !why.empty()) {
    return refused(first, why);
  }
  execution_->move(id, tasks_, before_, now_us_);
  record(EventKind::kMove, id);
  return {};
}

Status Simulation::apply_copy(std::size_t action) {
  const Action& wanted = plan_.actions[action];
  const TaskPlace copy{wanted.task, wanted.to};
  if (wanted.kind == ActionKind::kDropCopy) {
    const bool there = std::ranges::any_of(state_.copies_of(wanted.job), [&](const TaskCopy& of) {
      return TaskPlace{of.task, of.at} == copy;
    });
    if (!there) return refused(action, "no such copy");
    drop_copy(wanted.job, copy);
    return {};
  }
  if (const std::string why = state_.copy_task(wanted.job, copy, now_us_); !why.empty()) {
    return refused(action, why);
  }
  execution_->copy(wanted.job, copy, now_us_);
  ++result_.copies;
  record(EventKind::kCopy, wanted.job);
  return {};
}

Status Simulation::apply_preempt(std::size_t action) {
  const Action& preempt = plan_.actions[action];
  const JobId id = preempt.job;
  if (id.index() >= state_.arrived() || state_.state(id).status != JobStatus::kRunning) {
    return refused(action, fmt::format("job {} does not run", id.value));
  }
  const Job& job = state_.job(id);
  leaving_.clear();
  if (preempt.kind == ActionKind::kPreemptTask) {
    if (options_.progress_rule == ProgressRule::kWhole)
      return refused(action, "a part of a replica");
    if (preempt.task >= job.tasks || !state_.places_of(id)[preempt.task].server.valid()) {
      return refused(action, "a task that does not run");
    }
    leaving_.push_back(preempt.task);
  } else if (preempt.kind == ActionKind::kPreemptReplica) {
    if (preempt.value < 0 || preempt.value >= job.replicas) {
      return refused(action, "no such replica");
    }
    const std::uint32_t task = static_cast<std::uint32_t>(preempt.value) * job.partitions();
    if (!state_.places_of(id)[task].server.valid()) {
      return refused(action, "a replica that does not run");
    }
    execution_->failing_with(id, task, leaving_);
  } else {
    for (std::uint32_t k = 0; k < job.tasks; ++k) {
      if (state_.places_of(id)[k].server.valid()) leaving_.push_back(k);
    }
  }
  remove(id, Departure::kPreempted);
  return {};
}

Status Simulation::apply_stop(std::size_t action) {
  const Action& stop = plan_.actions[action];
  if (stop.job.index() >= state_.arrived() || state_.state(stop.job).ended()) {
    return refused(action, "no such job to stop");
  }
  if (stop.kind == ActionKind::kSetStop) {
    const std::int64_t worst = static_cast<std::int64_t>(StopOption::kAccuracy);
    if (stop.value < 0 || stop.value > worst) return refused(action, "no such stop option");
    state_.set_stop(stop.job, static_cast<StopOption>(stop.value));
    execution_->set_stop(stop.job);
    return {};
  }
  if (stop.value > execution_->iterations(stop.job, now_us_)) {
    execution_->stop_at(stop.job, stop.value);
    return {};
  }
  finish(stop.job, JobStatus::kStopped, EventKind::kStop);
  return {};
}

Status Simulation::apply() {
  if (plan_.view_version != state_.version()) return refused(0, "the plan is stale");
  for (std::size_t next = 0; next < plan_.actions.size();) {
    switch (plan_.actions[next].kind) {
      case ActionKind::kStartTask:
        BERTH_CHECK_OK(apply_start(next));
        continue;
      case ActionKind::kMoveTask:
        BERTH_CHECK_OK(apply_move(next));
        continue;
      case ActionKind::kPreemptJob:
      case ActionKind::kPreemptReplica:
      case ActionKind::kPreemptTask:
        BERTH_CHECK_OK(apply_preempt(next));
        break;
      case ActionKind::kCopyTask:
      case ActionKind::kDropCopy:
        BERTH_CHECK_OK(apply_copy(next));
        break;
      case ActionKind::kStopJob:
      case ActionKind::kSetStop:
        BERTH_CHECK_OK(apply_stop(next));
        break;
    }
    ++next;
  }
  for (const ReasonUpdate& update : plan_.reasons) {
    if (update.job.index() >= state_.arrived()) return refused(0, "a reason for no job");
    if (state_.state(update.job).status == JobStatus::kPending) {
      state_.set_reason(update.job, update.reason);
    }
  }
  for (const HeadUpdate& head : plan_.heads) state_.set_head(head);
  if (options_.reasons != nullptr) tell_reasons();
  wake_us_ = plan_.wake_us > now_us_ ? plan_.wake_us : kNever;
  idle_wakes_ = plan_.actions.empty() && nothing_to_come() ? idle_wakes_ + 1 : 0;
  if (idle_wakes_ > kMostIdleWakes) wake_us_ = kNever;
  return {};
}

// But what the policy itself may do.
bool Simulation::nothing_to_come() const {
  return state_.running() == 0 && state_.arrived() == workload_.jobs.size() &&
         next_fault_ == options_.faults.size();
}

void Simulation::tell_reasons() const {
  for (const HeadUpdate& head : plan_.heads) {
    options_.reasons->head_changed(now_us_, head.slot, head.job);
  }
  for (const ReasonUpdate& update : plan_.reasons) {
    if (state_.state(update.job).status == JobStatus::kPending) {
      options_.reasons->reason_given(now_us_, update.job, update.reason);
    }
  }
}

Status Simulation::decide() {
  const bool active = state_.pending() > never_;
  if (options_.drop_caches_one_in > 0 && drop_rng_.below(options_.drop_caches_one_in) == 0) {
    policy_.drop_caches();
  }
  plan_.clear();
  ClusterView view = state_.view(now_us_);
  view.telemetry = &telemetry_;
  predictors_.follow(view);
  const auto start = std::chrono::steady_clock::now();
  policy_.decide(view, predictors_, rng_, plan_);
  if (active) result_.active_round_ns.push_back(elapsed_ns(start));
  ++result_.rounds;
  if (options_.reasons != nullptr) {
    const TimeUs wake_us = plan_.wake_us > now_us_ ? plan_.wake_us : kNever;
    options_.reasons->decided(view, plan_, next_sure_instant(wake_us));
  }
  BERTH_CHECK_OK(apply());
  if (options_.check) {
    if (const std::string why = checker_.check(state_.view(now_us_)); !why.empty()) {
      return fail(internal_error(fmt::format("at {} us: {}", now_us_, why)));
    }
  }
  return {};
}

// The watchdog: what still runs has no replica that is there whole.
void Simulation::note_deadlock() {
  Deadlock out{.at_us = result_.end_us};
  for (std::size_t j = 0; j < state_.arrived(); ++j) {
    const JobId id{j};
    const JobState& state = state_.state(id);
    if (state.ended()) continue;
    const Job& job = state_.job(id);
    if (state.status != JobStatus::kRunning) {
      if (never_reason(state_.cluster(), job).code == ReasonCode::kNone) ++out.waiting_jobs;
      continue;
    }
    ++out.holding_jobs;
    const auto places = state_.places_of(id);
    out.held_milli +=
        std::ranges::count_if(places, [](const Placement& at) { return at.device.valid(); }) *
        static_cast<std::int64_t>(job.gpu_milli_per_task);
  }
  if (out.holding_jobs > 0) result_.deadlock = out;
}

SimulationResult Simulation::harvest() {
  const ClusterView view = state_.view(now_us_);
  result_.arrived = state_.arrived();
  result_.states.assign(view.states.begin(), view.states.end());
  result_.states.resize(workload_.jobs.size());
  result_.reasons.assign(view.reasons.begin(), view.reasons.end());
  result_.reasons.resize(workload_.jobs.size());
  result_.first_arrival_us = workload_.jobs.front().submit_us;
  result_.never_fit = never_;
  result_.outcomes = execution_->outcomes(now_us_);
  result_.copies_held_gpu_us = state_.copies_held_gpu_us(now_us_);
  result_.totals = execution_->totals();
  result_.lost_iterations = iterations_of(result_.totals.lost);
  result_.events = log_.count();
  result_.event_hash = log_.hash_hex();
  return std::move(result_);
}

Result<SimulationResult> Simulation::run() {
  constexpr std::uint64_t kProgressEvery = 1024;
  while (ended_ + never_ < workload_.jobs.size()) {
    const TimeUs next_us = next_instant();
    if (next_us >= kNever) {
      // What waits may wait for servers that never come back, or for the rest of a replica.
      if (options_.progress_rule == ProgressRule::kHold) note_deadlock();
      if (!options_.faults.empty() || options_.progress_rule == ProgressRule::kHold) break;
      return fail(internal_error(fmt::format(
          "at {} us nothing will happen any more, but {} jobs wait that fit the cluster", now_us_,
          workload_.jobs.size() - ended_ - never_)));
    }
    assert(next_us >= now_us_);
    now_us_ = next_us;
    bool news = wake_us_ == now_us_;
    news = complete_jobs() || news;
    news = apply_faults() || news;
    news = admit_arrivals() || news;
    if (news) BERTH_CHECK_OK(decide());
    if (!execution_->refresh(now_us_, queue_)) {
      return fail(internal_error(fmt::format("at {} us time would run out of range", now_us_)));
    }
    if (result_.rounds % kProgressEvery != 0) continue;
    if (options_.progress) options_.progress(ended_, now_us_);
    if (options_.interrupted != nullptr && options_.interrupted->load()) {
      result_.interrupted = true;
      break;
    }
  }
  if (options_.check && !execution_->work_is_conserved()) {
    return fail(internal_error("work that was done is neither kept nor lost"));
  }
  return harvest();
}

}  // namespace

Result<SimulationResult> simulate(const Cluster& cluster, const Workload& workload, Policy& policy,
                                  Predictors& predictors, const SimulationOptions& options) {
  if (workload.jobs.empty()) return fail(internal_error("a workload without jobs"));
  return Simulation(cluster, workload, policy, predictors, options).run();
}

}  // namespace berth
