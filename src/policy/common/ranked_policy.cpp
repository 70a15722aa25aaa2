#include "policy/common/ranked_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "policy/common/place_walk.h"
#include "policy/common/replicas.h"

namespace berth {
namespace {

// Ranks of jobs that run after a long wait: before all others, the longest wait first.
constexpr std::int64_t kPatient = std::numeric_limits<std::int64_t>::min() / 2;

}  // namespace

std::vector<NumberSetting> RankedSettings::numbers() {
  return {{"round_s", &round_s, 0.001, 86'400},
          {"least_run_s", &least_run_s, 0, 86'400},
          {"patience_h", &patience_h, 0, 1e6},
          {"patient_share", &patient_share, 0, 1}};
}

RankedPolicy::RankedPolicy(const RankedSettings& settings, bool preempts)
    : round_us_(us_of(settings.round_s, kUsPerS)),
      least_run_us_(us_of(settings.least_run_s, kUsPerS)),
      patience_(settings.patience_h, settings.patient_share),
      preempts_(preempts) {}

void RankedPolicy::reset(const Round& /*round*/) {
  waiting_.clear();
  by_wait_.clear();
  running_.clear();
  running_order_.clear();
  waiting_as_of_us_ = -1;
  reasons_as_of_us_ = -1;
  running_as_of_us_ = -1;
  patient_.clear();
  patient_milli_ = 0;
  since_.clear();
  newly_filed_.clear();
  forget();
}

void RankedPolicy::leave(JobId id) {
  if (waiting_.contains(id)) {
    waiting_.erase(id);
    by_wait_.erase(since_[id.index()], id.value);
  }
  if (running_.contains(id.value)) {
    running_.erase(id.value);
    running_as_of_us_ = -1;
  }
}

void RankedPolicy::file_job(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  const JobState& state = round.view.state(id);
  if (since_.size() <= id.index()) {
    since_.resize(round.view.jobs.size());
    patient_.resize(round.view.jobs.size());
    running_.grow(round.view.jobs.size());
  }
  leave(id);
  if (patient_[id.index()] != 0) {
    patient_[id.index()] = 0;
    patient_milli_ -= job.gpu_milli();
  }
  if (state.status == JobStatus::kRunning) {
    running_.insert(id.value);
    running_as_of_us_ = -1;
    if (patience_.was_over(round.view, id)) {
      patient_[id.index()] = 1;
      patient_milli_ += job.gpu_milli();
    }
    return;
  }
  if (state.ended()) return note_ended(round, id);
  if (!waits_for_places(round, id)) return;
  waiting_.insert(id, job, rank(round, id, as_of(round.view.now_us)));
  since_[id.index()] = waits_since(job, state);
  by_wait_.insert({since_[id.index()], id.value, 0});
  newly_filed_.push_back(id);
}

// Ranks of waiting jobs were given when they were filed: in an earlier round, perhaps.
void RankedPolicy::rank_waiting(const Round& round) {
  const TimeUs as_of_us = as_of(round.view.now_us);
  if (waiting_as_of_us_ == as_of_us) return;
  waiting_as_of_us_ = as_of_us;
  if (!waiting_ranks_change()) return;
  std::vector<JobId> ids;
  by_wait_.for_each([&](const OrderedBlocks::Entry& entry) { ids.emplace_back(entry.id); });
  for (const JobId id : ids) {
    const Rank now = rank(round, id, as_of_us);
    if (now != waiting_.key(id)) waiting_.set_key(id, round.view.job(id), now);
  }
}

RankedPolicy::Rank RankedPolicy::running_rank(const Round& round, JobId id) {
  if (patient_[id.index()] != 0) {
    return kPatient + waits_since(round.view.job(id), round.view.state(id));
  }
  return rank(round, id, as_of(round.view.now_us));
}

const OrderedBlocks& RankedPolicy::rank_running(const Round& round) {
  const TimeUs as_of_us = as_of(round.view.now_us);
  if (running_as_of_us_ == as_of_us && !running_ranks_follow_reports()) return running_order_;
  running_as_of_us_ = as_of_us;
  running_order_.clear();
  const Placer* const placed_by = placer(round);
  for (std::uint32_t j = running_.first(); j != IdSet::kNone; j = running_.at_or_after(j + 1)) {
    const Job& job = round.view.job(JobId{j});
    const std::int64_t milli = placed_by != nullptr ? placed_by->held_milli(job) : job.gpu_milli();
    running_order_.insert({running_rank(round, JobId{j}), j, static_cast<std::int32_t>(milli)});
  }
  return running_order_;
}

// Who has waited for so long, as far as they may go before the others.
void RankedPolicy::list_privileged(const Round& round) {
  privileged_.clear();
  const std::int64_t most_milli = patience_.most_milli(free_);
  std::int64_t milli = patient_milli_;
  const auto* next = by_wait_.at_or_after(std::numeric_limits<TimeUs>::min(), 0);
  while (next != nullptr && patience_.is_over(round.view.now_us - next->key)) {
    const JobId id{next->id};
    milli += round.view.job(id).gpu_milli();
    if (milli > most_milli && (patient_milli_ > 0 || !privileged_.empty())) return;
    privileged_.push_back(id);
    next = by_wait_.at_or_after(next->key, next->id + 1);
  }
}

void RankedPolicy::start_waiting(const Round& round, JobId id, std::span<const Placement> places) {
  start_at(round, id, places);
  leave(id);
}

void RankedPolicy::take_off(const Round& round, JobId id) {
  preempt(round, id);
  free_.give_back(round.view.job(id), round.view.placements_of(id));
  leave(id);
}

void RankedPolicy::leave_alone(JobId id) {
  file_again(id);
  leave(id);
}

void RankedPolicy::make_plan(const Round& round) {
  tend_running(round);
  if (!waiting_.empty()) serve_waiting(round);
  use_what_is_left(round);
}

void RankedPolicy::serve_waiting(const Round& round) {
  if (ranks_depend_on_all()) {
    // There may be several decisions at one instant.
    waiting_as_of_us_ = running_as_of_us_ = -1;
    look_at_all(round);
  }
  rank_waiting(round);
  list_privileged(round);
  const PlaceWalk::Running running = [&]() -> const OrderedBlocks& { return rank_running(round); };
  const PlaceWalk walk(round.view, free_, running, waiting_,
                       {.preempts = preempts_,
                        .least_run_us = least_run_us_,
                        .privileged = privileged_,
                        .placer = placer(round),
                        .keeps = keeps_room(),
                        .widest_first = places_widest_first()});
  carry_out_walk(round, walk);
  for (const PlaceWalk::Start& start : walk.starts()) leave(start.job);
  if (!waiting_.empty()) fill_up(round, walk);
  const TimeUs round_us = round_of(round.view.now_us);
  give_reasons(round, walk, std::exchange(reasons_as_of_us_, round_us) != round_us);
  // What the walk stopped and started is filed in the next round.
  const bool some_wait = !waiting_.empty() || !walk.stops().empty();
  const bool some_run = !running_.empty() || !walk.starts().empty();
  if (some_wait) {
    round.plan.wake_us = std::min(round.plan.wake_us, next_wake(round, some_run));
  }
}

void RankedPolicy::give_reasons(const Round& round, const PlaceWalk& walk, bool to_all) {
  const bool others_first = preempts_ && !running_.empty();
  if (to_all) {
    by_wait_.for_each([&](const OrderedBlocks::Entry& entry) {
      explain_wait(round, JobId{entry.id}, walk.kept(), others_first);
    });
  } else {
    for (const JobId id : newly_filed_) {
      if (waiting_.contains(id)) explain_wait(round, id, walk.kept(), others_first);
    }
  }
  newly_filed_.clear();
}

// Nothing changes by itself while nothing runs, but the patience of those that wait.
TimeUs RankedPolicy::next_wake(const Round& round, bool some_run) const {
  const TimeUs now_us = round.view.now_us;
  TimeUs wake_us = kNever;
  if (patience_.has_limit()) {
    const TimeUs since_us = by_wait_.empty() ? now_us : by_wait_.front().key;
    if (since_us + patience_.limit_us() > now_us) wake_us = since_us + patience_.limit_us();
  }
  if (!some_run || !preempts_) return wake_us;
  return std::min(wake_us, next_round(now_us));
}

}  // namespace berth
