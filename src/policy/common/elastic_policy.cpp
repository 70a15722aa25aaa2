#include "policy/common/elastic_policy.h"

#include <algorithm>
#include <cmath>

#include "policy/common/place_walk.h"
#include "policy/common/remaining.h"
#include "policy/common/replicas.h"

namespace berth {
namespace {

// Tiers of units.
constexpr std::uint8_t kPatientTier = 0;
constexpr std::uint8_t kFirstTier = 1;
constexpr std::uint8_t kFurtherTier = 2;

}  // namespace

std::vector<NumberSetting> ElasticSettings::numbers() {
  return {{"interval_s", &interval_s, 0.001, 86'400},
          {"least_run_s", &least_run_s, 0, 86'400},
          {"hold", &hold, 0, 100},
          {"patience_h", &patience_h, 0, 1e6},
          {"patient_share", &patient_share, 0, 1}};
}

ElasticPolicy::ElasticPolicy(const ElasticSettings& settings, bool one_for_each)
    : interval_us_(us_of(settings.interval_s, kUsPerS)),
      least_run_us_(us_of(settings.least_run_s, kUsPerS)),
      hold_(settings.hold),
      patience_(settings.patience_h, settings.patient_share),
      one_for_each_(one_for_each) {}

void ElasticPolicy::reset(const Round& /*round*/) {
  waiting_.clear();
  waiting_without_gpu_.clear();
  running_.clear();
  privileged_.clear();
  newly_filed_.clear();
  forget();
}

void ElasticPolicy::file_job(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  for (IdSet* set : {&waiting_, &waiting_without_gpu_, &running_, &privileged_}) {
    set->grow(round.view.jobs.size());
    set->erase(id.value);
  }
  note(round, id);
  if (round.view.state(id).status == JobStatus::kRunning) {
    if (job.gpu_milli_per_task > 0) running_.insert(id.value);
    return;
  }
  if (!waits_for_places(round, id)) return;
  (job.gpu_milli_per_task > 0 ? waiting_ : waiting_without_gpu_).insert(id.value);
  newly_filed_.push_back(id);
}

// A little later than the instant itself, where clocks are real; twice does no harm.
bool ElasticPolicy::at_multiple(TimeUs now_us) const {
  constexpr TimeUs kParts = 100;
  return now_us - as_of(now_us) <= interval_us_ / kParts;
}

void ElasticPolicy::start_without_gpu(const Round& round) {
  waiting_without_gpu_.for_each([&](std::uint32_t j) {
    if (try_start(round, JobId{j})) waiting_without_gpu_.erase(j);
  });
}

// Who has waited for so long, the longest wait first, as far as they may go before the others.
void ElasticPolicy::list_privileged(const Round& round) {
  for (std::uint32_t j = privileged_.first(); j != IdSet::kNone; j = privileged_.first()) {
    privileged_.erase(j);
  }
  const auto ids_of = [](const IdSet& ids) {
    return [&ids](auto visit) { ids.for_each([&](std::uint32_t j) { visit(JobId{j}); }); };
  };
  const auto first_replica = [&](JobId id) {
    return replicas_of(round.view.job(id), 1).gpu_milli();
  };
  for (const JobId id :
       patience_.privileged(round.view, free_, ids_of(running_), ids_of(waiting_), first_replica)) {
    privileged_.insert(id.value);
  }
}

void ElasticPolicy::value_by_prediction(const Round& round, JobId id, TimeUs as_of_us,
                                        std::span<double> worth) {
  constexpr double kUnpredicted = 1e-30;  // less than 1 over any GPU time
  const Job& job = round.view.job(id);
  const auto left_us = remaining_us(round.view, round.predictors, id, as_of_us);
  const double gpus = static_cast<double>(job.gpu_milli()) / kWholeGpuMilli;
  const double value = left_us ? 1.0 / (std::max(seconds(*left_us), 1e-6) * gpus)
                               : kUnpredicted / (1.0 + seconds(job.submit_us));
  std::ranges::fill(worth, value);
}

// Those of its replicas that come after the first `from`.
void ElasticPolicy::add_units(const Round& round, JobId id, std::uint32_t from,
                              std::vector<ReplicaWalk::Unit>& out) {
  const ClusterView& view = round.view;
  const Job& job = view.job(id);
  const JobState& state = view.state(id);
  const std::uint32_t running = running_replicas(view, id);
  const bool may_leave =
      running > 0 && view.now_us - state.last_start_us >= least_run_us(state, least_run_us_);
  worth_.assign(job.replicas, 0.0);
  value_replicas(round, id, as_of(view.now_us), worth_);
  for (double& worth : worth_) {
    if (std::isnan(worth)) worth = 0.0;
  }
  worth_[0] = std::max(worth_[0], 0.0);
  for (std::uint32_t k = one_for_each_ ? 2 : 1; k < job.replicas; ++k) {
    worth_[k] = std::min(worth_[k], worth_[k - 1]);
  }
  for (std::uint32_t k = from; k < job.replicas; ++k) {
    const bool runs = k < running;
    if (!runs && worth_[k] < 0) return;
    ReplicaWalk::Unit unit{.worth = runs && worth_[k] > 0 ? worth_[k] * (1.0 + hold_) : worth_[k],
                           .job = id,
                           .number = k + 1,
                           .tier = one_for_each_ && k > 0 ? kFurtherTier : kFirstTier,
                           .runs = runs,
                           .may_leave = may_leave};
    if (k == 0 && (runs ? patience_.was_over(round.view, id) : privileged_.contains(id.value))) {
      unit.privileged = true;
      unit.tier = kPatientTier;
      unit.worth = -static_cast<double>(waits_since(job, state));
    }
    out.push_back(unit);
  }
}

// Of all jobs, or only what could be added to what runs.
std::vector<ReplicaWalk::Unit> ElasticPolicy::units(const Round& round, bool all) {
  std::vector<ReplicaWalk::Unit> out;
  if (!all && free_.free_milli(kAnyGpuType) == 0) return out;
  RefusedDemands refused;
  for (const IdSet* ids : {&running_, &waiting_}) {
    for (std::uint32_t j = ids->first(); j != IdSet::kNone; j = ids->at_or_after(j + 1)) {
      const JobId id{j};
      if (all) {
        add_units(round, id, 0, out);
        continue;
      }
      const Job& job = round.view.job(id);
      const std::uint32_t running = running_replicas(round.view, id);
      // Of a long queue little fits: the rest need not be valued, unless room is kept for it.
      if (running == job.replicas) continue;
      const Job replica = replicas_of(job, 1);
      if (!privileged_.contains(j)) {
        if (refused.contains(replica)) continue;
        if (!free_.fits(replica)) {
          refused.add(replica);
          continue;
        }
      }
      add_units(round, id, running, out);
    }
  }
  return out;
}

void ElasticPolicy::make_plan(const Round& round) {
  start_without_gpu(round);
  list_privileged(round);
  const bool all = at_multiple(round.view.now_us);
  const ReplicaWalk walk(round.view, free_, units(round, all));
  carry_out(round, walk);
  give_reasons(round, walk, all);
  round.plan.wake_us = next_wake(round);
}

void ElasticPolicy::carry_out(const Round& round, const ReplicaWalk& walk) {
  for (const auto& [job_id, change] : walk.changes()) {
    const JobId id{job_id};
    file_again(id);
    if (change.leaving.empty()) continue;
    if (!change.staying.empty()) {
      for (const std::uint32_t replica : change.leaving) preempt_replica(round, id, replica);
      continue;
    }
    preempt(round, id);
    if (!change.starts.empty()) continue;
    running_.erase(id.value);
    waiting_.insert(id.value);
    give_reason(round, id, {.code = ReasonCode::kPreempted, .subject = change.displaced_by.value});
  }
  for (const auto& [job_id, change] : walk.changes()) {
    const JobId id{job_id};
    if (change.starts.empty()) continue;
    for (const auto& [replica, places] : change.starts) start_replica(round, id, replica, places);
    running_.insert(id.value);
    waiting_.erase(id.value);
    if (!change.staying.empty()) continue;
    start_parameter_server(round, id, change.starts.front().places.front().server);
  }
}

void ElasticPolicy::give_reasons(const Round& round, const ReplicaWalk& walk, bool to_all) {
  const bool others_first = !running_.empty();
  const auto explain = [&](JobId id) {
    // Why it left this round is said already.
    if (walk.changes().contains(id.value)) return;
    explain_wait(round, id, walk.kept(), others_first);
  };
  if (to_all) {
    waiting_.for_each([&](std::uint32_t j) { explain(JobId{j}); });
  } else {
    for (const JobId id : newly_filed_) {
      if (waiting_.contains(id.value)) explain(id);
    }
  }
  for (const JobId id : newly_filed_) {
    if (waiting_without_gpu_.contains(id.value)) {
      give_reason(round, id, shortage(round.view.job(id)));
    }
  }
  newly_filed_.clear();
}

// Nothing changes by itself while nothing runs; nor if all that could be had is had.
TimeUs ElasticPolicy::next_wake(const Round& round) const {
  const TimeUs next_us = as_of(round.view.now_us) + interval_us_;
  if (running_.empty()) return kNever;
  if (!waiting_.empty()) return next_us;
  for (std::uint32_t j = running_.first(); j != IdSet::kNone; j = running_.at_or_after(j + 1)) {
    if (running_replicas(round.view, JobId{j}) < round.view.job(JobId{j}).replicas) return next_us;
  }
  return kNever;
}

}  // namespace berth
