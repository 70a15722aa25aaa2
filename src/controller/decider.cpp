#include "controller/decider.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace berth {

void Decider::forget() {
  policy_->drop_caches();
  predictors_ = learn_from_history();
}

// The tasks that leave: all, or those of a replica; a parameter server does not stay alone.
std::string Decider::apply_leave(ClusterState& state, const Action& action, TimeUs now_us) {
  if (action.job.index() >= state.arrived()) return "no such job";
  const Job& job = state.job(action.job);
  const std::span<const Placement> places = state.places_of(action.job);
  std::uint32_t first = 0;
  std::uint32_t last = job.tasks;
  if (action.kind == ActionKind::kPreemptReplica) {
    if (action.value < 0 || action.value >= job.replicas) return "no such replica";
    first = static_cast<std::uint32_t>(action.value) * job.partitions();
    last = first + job.partitions();
  }
  leaving_.clear();
  std::uint32_t workers_left = 0;
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    if (!places[k].server.valid()) continue;
    if (k >= first && k < last) {
      leaving_.push_back(k);
    } else if (job.is_worker(k)) {
      ++workers_left;
    }
  }
  if (workers_left == 0) {
    leaving_.clear();
    for (std::uint32_t k = 0; k < job.tasks; ++k) {
      if (places[k].server.valid()) leaving_.push_back(k);
    }
  }
  return state.remove_tasks(action.job, leaving_, Departure::kPreempted, now_us);
}

std::string Decider::apply(ClusterState& state, TimeUs now_us, Decision& out) {
  if (plan_.view_version != state.version()) return "the plan is stale";
  for (std::size_t next = 0; next < plan_.actions.size();) {
    const Action& action = plan_.actions[next];
    std::string why;
    switch (action.kind) {
      case ActionKind::kStartTask:
        next = read_group(plan_.actions, next, tasks_);
        why = state.start_tasks(action.job, tasks_, now_us);
        out.touched.push_back(action.job);
        break;
      case ActionKind::kMoveTask:
        next = read_group(plan_.actions, next, tasks_);
        why = state.move_tasks(action.job, tasks_, now_us);
        out.touched.push_back(action.job);
        break;
      case ActionKind::kPreemptJob:
      case ActionKind::kPreemptReplica:
        ++next;
        why = apply_leave(state, action, now_us);
        out.touched.push_back(action.job);
        break;
      case ActionKind::kPreemptTask:
        why = "a part of a replica";
        break;
      case ActionKind::kCopyTask:
      case ActionKind::kDropCopy:
        why = "a job's command cannot run a task twice";
        break;
      case ActionKind::kStopJob:
        ++next;
        out.stops.push_back({action.job, action.value});
        break;
      case ActionKind::kSetStop:
        ++next;
        if (action.job.index() >= state.arrived() || action.value < 0 ||
            action.value > static_cast<std::int64_t>(StopOption::kAccuracy)) {
          why = "no such stop option";
        } else {
          state.set_stop(action.job, static_cast<StopOption>(action.value));
          out.touched.push_back(action.job);
        }
        break;
    }
    if (!why.empty()) return fmt::format("job {}: {}", action.job.value, why);
  }
  for (const ReasonUpdate& update : plan_.reasons) {
    if (update.job.index() >= state.arrived()) return "a reason for no job";
    if (state.state(update.job).status == JobStatus::kPending) {
      state.set_reason(update.job, update.reason);
    }
  }
  for (const HeadUpdate& head : plan_.heads) state.set_head(head);
  return {};
}

Decision Decider::decide(ClusterState& state, const Telemetry& telemetry, TimeUs now_us) {
  plan_.clear();
  ClusterView view = state.view(now_us);
  view.telemetry = &telemetry;
  predictors_->follow(view);
  const auto start = std::chrono::steady_clock::now();
  policy_->decide(view, *predictors_, rng_, plan_);
  const auto took = std::chrono::steady_clock::now() - start;
  counts_.last_round_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  counts_.most_round_us = std::max(counts_.most_round_us, counts_.last_round_us);
  counts_.all_rounds_us += counts_.last_round_us;
  ++counts_.rounds;
  Decision out;
  out.wake_us = plan_.wake_us > now_us ? plan_.wake_us : kNever;
  if (std::string why = apply(state, now_us, out); !why.empty()) {
    // A bug of the policy, or of ours: what it remembers cannot be trusted any more.
    ++counts_.refused;
    counts_.last_refusal = std::move(why);
    out.refused = true;
    policy_->drop_caches();
  }
  return out;
}

}  // namespace berth
