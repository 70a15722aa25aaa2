#include "engine/simulator.h"

#include <fmt/format.h>

#include <chrono>

#include "base/huge_pages.h"
#include "engine/event_queue.h"
#include "engine/invariants.h"
#include "policy/common/cached_policy.h"

namespace berth {
namespace {

// How far a job has come, in integer work units: microseconds of its alone time.
struct Progress {
  TimeUs work_left_us = 0;
  TimeUs since_us = 0;           // work_left_us was true then
  std::uint32_t generation = 0;  // of its completion event
};

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
             const Predictors& predictors, const SimulationOptions& options)
      : workload_(workload),
        policy_(policy),
        predictors_(predictors),
        options_(options),
        log_(options.log != nullptr ? *options.log : silent_log_),
        state_(cluster, copy_of(workload.jobs)),
        rng_(Rng(options.seed).fork("policy")),
        drop_rng_(Rng(options.seed).fork("drop-caches")),
        progress_(large_vector<Progress>(workload.jobs.size())) {
    for (std::size_t j = 0; j < progress_.size(); ++j) {
      progress_[j].work_left_us = workload.truths[j].work_us;
    }
  }

  Result<SimulationResult> run();

 private:
  [[nodiscard]] TimeUs next_instant() const;
  void complete_jobs();
  void admit_arrivals();
  Status decide();
  Status apply();
  Status apply_start(std::size_t& next);
  Status apply_preempt(const Action& action);
  Status apply_stop(const Action& action);
  [[nodiscard]] Status refused(std::size_t action, const std::string& why) const;
  void finish(JobId id, JobStatus status, EventKind kind);
  SimulationResult harvest();

  const Workload& workload_;
  Policy& policy_;
  const Predictors& predictors_;
  const SimulationOptions& options_;
  EventLog silent_log_;
  EventLog& log_;
  ClusterState state_;
  Rng rng_;
  Rng drop_rng_;
  std::vector<Progress> progress_;
  EventQueue queue_;
  InvariantChecker checker_;
  TimeUs now_us_ = 0;
  TimeUs wake_us_ = kNever;
  std::size_t ended_ = 0;
  std::size_t never_ = 0;
  Plan plan_;
  std::vector<Placement> places_;
  SimulationResult result_;
};

TimeUs Simulation::next_instant() const {
  TimeUs next = wake_us_;
  if (state_.arrived() < workload_.jobs.size()) {
    next = std::min(next, workload_.jobs[state_.arrived()].submit_us);
  }
  if (!queue_.empty()) next = std::min(next, queue_.top().at_us);
  return next;
}

void Simulation::finish(JobId id, JobStatus status, EventKind kind) {
  // The status was checked by the caller: a refusal here would be a bug of the engine.
  [[maybe_unused]] const std::string why = state_.end_job(id, status, now_us_);
  assert(why.empty());
  ++progress_[id.index()].generation;
  ++ended_;
  result_.end_us = now_us_;
  log_.record(now_us_, kind, id.value);
}

void Simulation::complete_jobs() {
  while (!queue_.empty() && queue_.top().at_us == now_us_) {
    const FutureEvent event = queue_.top();
    queue_.pop();
    if (event.generation != progress_[event.id].generation) continue;
    finish(JobId{event.id}, JobStatus::kFinished, EventKind::kFinish);
  }
}

void Simulation::admit_arrivals() {
  while (state_.arrived() < workload_.jobs.size() &&
         workload_.jobs[state_.arrived()].submit_us == now_us_) {
    const JobId id = state_.arrive();
    log_.record(now_us_, EventKind::kArrive, id.value);
    if (never_reason(state_.cluster(), state_.job(id)).code != ReasonCode::kNone) ++never_;
  }
}

Status Simulation::refused(std::size_t action, const std::string& why) const {
  return fail(internal_error(
      fmt::format("at {} us the policy's action {} cannot be applied: {}", now_us_, action, why)));
}

Status Simulation::apply_start(std::size_t& next) {
  const std::size_t first = next;
  const JobId id = plan_.actions[first].job;
  places_.clear();
  for (; next < plan_.actions.size(); ++next) {
    const Action& action = plan_.actions[next];
    if (action.kind != ActionKind::kStartTask || action.job != id) break;
    if (action.task != places_.size()) return refused(next, "tasks of a gang out of order");
    places_.push_back(action.to);
  }
  if (const std::string why = state_.start_job(id, places_, now_us_); !why.empty()) {
    return refused(first, why);
  }
  Progress& progress = progress_[id.index()];
  progress.since_us = now_us_;
  if (progress.work_left_us > kNever - now_us_)
    return refused(first, "time would run out of range");
  queue_.push(
      {now_us_ + progress.work_left_us, FutureKind::kCompletion, id.value, progress.generation});
  log_.record(now_us_, EventKind::kStart, id.value, places_);
  return {};
}

Status Simulation::apply_preempt(const Action& action) {
  const auto index = static_cast<std::size_t>(&action - plan_.actions.data());
  if (const std::string why = state_.preempt_job(action.job, now_us_); !why.empty()) {
    return refused(index, why);
  }
  Progress& progress = progress_[action.job.index()];
  progress.work_left_us -= now_us_ - progress.since_us;
  ++progress.generation;
  ++result_.preemptions;
  log_.record(now_us_, EventKind::kPreempt, action.job.value);
  return {};
}

Status Simulation::apply_stop(const Action& action) {
  const auto index = static_cast<std::size_t>(&action - plan_.actions.data());
  if (action.job.index() >= state_.arrived() || state_.state(action.job).ended()) {
    return refused(index, "no such job to stop");
  }
  finish(action.job, JobStatus::kStopped, EventKind::kStop);
  return {};
}

Status Simulation::apply() {
  if (plan_.view_version != state_.version()) return refused(0, "the plan is stale");
  for (std::size_t next = 0; next < plan_.actions.size();) {
    const Action& action = plan_.actions[next];
    switch (action.kind) {
      case ActionKind::kStartTask:
        BERTH_CHECK_OK(apply_start(next));
        continue;
      case ActionKind::kPreemptJob:
        BERTH_CHECK_OK(apply_preempt(action));
        break;
      case ActionKind::kStopJob:
        BERTH_CHECK_OK(apply_stop(action));
        break;
      case ActionKind::kMoveTask:
      case ActionKind::kSetStop:
        return refused(next, "not known to as-traced jobs");
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
  wake_us_ = plan_.wake_us > now_us_ ? plan_.wake_us : kNever;
  return {};
}

Status Simulation::decide() {
  const bool active = state_.pending() > never_;
  if (options_.drop_caches_one_in > 0 && drop_rng_.below(options_.drop_caches_one_in) == 0) {
    policy_.drop_caches();
  }
  plan_.clear();
  const auto start = std::chrono::steady_clock::now();
  policy_.decide(state_.view(now_us_), predictors_, rng_, plan_);
  if (active) result_.active_round_ns.push_back(elapsed_ns(start));
  ++result_.rounds;
  BERTH_CHECK_OK(apply());
  if (options_.check) {
    if (const std::string why = checker_.check(state_.view(now_us_)); !why.empty()) {
      return fail(internal_error(fmt::format("at {} us: {}", now_us_, why)));
    }
  }
  return {};
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
  result_.events = log_.count();
  result_.event_hash = log_.hash_hex();
  return std::move(result_);
}

Result<SimulationResult> Simulation::run() {
  constexpr std::uint64_t kProgressEvery = 1024;
  while (ended_ + never_ < workload_.jobs.size()) {
    const TimeUs next_us = next_instant();
    if (next_us >= kNever) {
      return fail(internal_error(fmt::format(
          "at {} us nothing will happen any more, but {} jobs wait that fit the cluster", now_us_,
          workload_.jobs.size() - ended_ - never_)));
    }
    assert(next_us >= now_us_);
    now_us_ = next_us;
    complete_jobs();
    admit_arrivals();
    BERTH_CHECK_OK(decide());
    if (result_.rounds % kProgressEvery != 0) continue;
    if (options_.progress) options_.progress(ended_, now_us_);
    if (options_.interrupted != nullptr && options_.interrupted->load()) {
      result_.interrupted = true;
      break;
    }
  }
  return harvest();
}

}  // namespace

Result<SimulationResult> simulate(const Cluster& cluster, const Workload& workload, Policy& policy,
                                  const Predictors& predictors, const SimulationOptions& options) {
  if (workload.jobs.empty()) return fail(internal_error("a workload without jobs"));
  return Simulation(cluster, workload, policy, predictors, options).run();
}

}  // namespace berth
