#include "report/job_history.h"

#include <algorithm>
#include <tuple>

namespace berth {
namespace {

using State = JobSpan::State;

bool same(const JobSpan& a, const JobSpan& b) {
  const auto parts = [](const JobSpan& span) {
    return std::tie(span.began, span.state, span.reason, span.head, span.gpus, span.servers);
  };
  return parts(a) == parts(b);
}

State state_after(EventKind kind) {
  switch (kind) {
    case EventKind::kStart:
    case EventKind::kGrow:
    case EventKind::kShrink:
    case EventKind::kMove:
    case EventKind::kCopy:
    case EventKind::kDropCopy:
    case EventKind::kTakeOver:
      return State::kRuns;
    case EventKind::kFinish:
    case EventKind::kStop:
      return State::kEnded;
    default:
      return State::kWaits;
  }
}

bool is_about_job(EventKind kind) {
  switch (kind) {
    case EventKind::kServerDown:
    case EventKind::kServerUp:
    case EventKind::kDeviceDown:
    case EventKind::kDeviceUp:
    case EventKind::kDeviceSpeed:
      return false;
    default:
      return true;
  }
}

ReasonCode code_after(EventKind kind) {
  if (kind == EventKind::kPreempt) return ReasonCode::kPreempted;
  return kind == EventKind::kEvict ? ReasonCode::kEvicted : ReasonCode::kNotConsidered;
}

}  // namespace

// What is replaced at the instant at which it began was never so, but for a job that had to leave.
void JobHistory::add(JobSpan next) {
  if (!spans_.empty()) {
    JobSpan& last = spans_.back();
    const bool left = last.began == EventKind::kPreempt || last.began == EventKind::kEvict;
    if (last.from_us == next.from_us && !(left && next.state != last.state)) {
      spans_.pop_back();
    } else if (same(last, next)) {
      return;
    }
  }
  if (!spans_.empty()) {
    const bool goes_on = same(spans_.back(), next);
    spans_.back().to_us = goes_on ? kNever : next.from_us;
    if (goes_on) return;
  }
  spans_.push_back(std::move(next));
}

void JobHistory::write(TimeUs at_us, EventKind kind, std::uint32_t id,
                       std::span<const Placement> places, std::span<const TaskCopy> copies) {
  if (id != job_.value || !is_about_job(kind)) return;
  JobSpan next{.from_us = at_us, .began = kind, .state = state_after(kind), .servers = {}};
  if (next.state == State::kWaits) next.reason.code = code_after(kind);
  const auto count = [&](const Placement& place) {
    if (!place.server.valid()) return;
    if (place.device.valid()) ++next.gpus;
    if (std::ranges::find(next.servers, place.server) == next.servers.end()) {
      next.servers.push_back(place.server);
    }
  };
  for (const Placement& place : places) count(place);
  for (const TaskCopy& copy : copies) count(copy.at);
  add(std::move(next));
}

void JobHistory::set_reason(TimeUs at_us, const Reason& reason) {
  if (spans_.empty() || spans_.back().state != State::kWaits) return;
  JobSpan next = spans_.back();
  next.from_us = at_us;
  next.to_us = kNever;
  next.reason = reason;
  const bool behind_head = reason.code == ReasonCode::kBehindHead;
  next.head = behind_head && reason.subject < heads_.size() ? heads_[reason.subject] : JobId{};
  add(std::move(next));
}

void JobHistory::reason_given(TimeUs at_us, JobId job, const Reason& reason) {
  if (job == job_) set_reason(at_us, reason);
}

void JobHistory::head_changed(TimeUs at_us, std::uint32_t slot, JobId job) {
  if (heads_.size() <= slot) heads_.resize(slot + 1);
  heads_[slot] = job;
  if (spans_.empty()) return;
  const Reason reason = spans_.back().reason;
  if (reason.code == ReasonCode::kBehindHead && reason.subject == slot) set_reason(at_us, reason);
}

// Whether a span of the job may begin with this decision.
bool JobHistory::is_concerned(const ClusterView& view, const Plan& plan) {
  const auto parts = [](const JobState& state) {
    return std::tie(state.status, state.preemptions, state.evictions, state.tasks_placed);
  };
  const JobState& now = view.state(job_);
  const bool acted_on = std::ranges::find(plan.actions, job_, &Action::job) != plan.actions.end();
  const bool changed = !seen_ || parts(now) != parts(*seen_);
  seen_ = acted_on ? std::nullopt : std::optional(now);
  return changed || acted_on || !plan.heads.empty() ||
         std::ranges::find(plan.reasons, job_, &ReasonUpdate::job) != plan.reasons.end();
}

void JobHistory::decided(const ClusterView& view, const Plan& plan, TimeUs next_us) {
  if (policy_ == nullptr || job_.index() >= view.jobs.size()) return;
  const bool concerned = is_concerned(view, plan);
  const bool asked = asked_us_ && view.now_us <= *asked_us_ && *asked_us_ < next_us;
  if (!concerned && !asked) return;
  auto explanation = explain_priority(view, plan, *policy_, *predictors_, job_);
  if (asked) as_asked_ = explanation;
  if (!concerned || !explanation) return;
  if (!explanations_.empty() && explanations_.back().decided_us == view.now_us) {
    explanations_.pop_back();
  }
  explanations_.push_back(*std::move(explanation));
}

const PriorityExplanation* JobHistory::priority_at_start(const JobSpan& span) const {
  if (span.state == State::kEnded) return nullptr;
  const auto found =
      std::ranges::lower_bound(explanations_, span.from_us, {}, &PriorityExplanation::decided_us);
  if (found == explanations_.end() || found->decided_us != span.from_us) return nullptr;
  return found->runs == (span.state == State::kRuns) ? &*found : nullptr;
}

const JobSpan* JobHistory::at(TimeUs at_us) const {
  const auto after = std::ranges::upper_bound(spans_, at_us, {}, &JobSpan::from_us);
  return after == spans_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace berth
