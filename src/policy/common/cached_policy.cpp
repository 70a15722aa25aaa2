#include "policy/common/cached_policy.h"

#include "policy/common/place_walk.h"
#include "policy/common/replicas.h"

namespace berth {

bool CachedPolicy::sync(const Round& round) {
  const ClusterView& view = round.view;
  const auto changes = synced_ ? view.changes_since(seen_) : std::nullopt;
  seen_ = view.version;
  if (!changes) return false;
  free_.undo_tentative(view);
  for (const JobId id : acted_on_) file_job(round, id);
  for (const Change& change : *changes) {
    if (change.kind == ChangeKind::kServerChanged) {
      free_.sync_server(view, ServerId{change.id});
      continue;
    }
    file_job(round, JobId{change.id});
    if (change.kind != ChangeKind::kJobArrived) note_shrunk(view, JobId{change.id});
  }
  return true;
}

void CachedPolicy::note_shrunk(const ClusterView& view, JobId id) {
  const JobState& state = view.state(id);
  const bool shrunk =
      state.status == JobStatus::kRunning && state.tasks_placed < view.job(id).tasks;
  if (!shrunk && shrunk_.empty()) return;
  if (shrunk == shrunk_.contains(id.value)) return;
  if (shrunk) {
    shrunk_.grow(view.jobs.size());
    shrunk_.insert(id.value);
  } else {
    shrunk_.erase(id.value);
  }
}

// A job that lost replicas with a server has them back as soon as there is room: it holds its turn.
void CachedPolicy::regrow(const Round& round) {
  for (std::uint32_t j = shrunk_.first(); j != IdSet::kNone; j = shrunk_.at_or_after(j + 1)) {
    const Job& job = round.view.job(JobId{j});
    const Job replica = replicas_of(job, 1);
    for (std::uint32_t r = 0; r < job.replicas; ++r) {
      if (places_of_replica(round.view, JobId{j}, r).front().server.valid()) continue;
      if (!free_.take(replica, places_)) break;
      start_replica(round, JobId{j}, r, places_);
    }
  }
}

void CachedPolicy::decide(const ClusterView& view, const Predictors& predictors, Rng& rng,
                          Plan& plan) {
  const Round round{view, predictors, rng, plan};
  if (!sync(round)) {
    free_.rebuild(view);
    reset(round);
    shrunk_.clear();
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      file_job(round, JobId{j});
      note_shrunk(view, JobId{j});
    }
    synced_ = true;
  }
  acted_on_.clear();
  plan.view_version = view.version;
  if (regrows()) regrow(round);
  make_plan(round);
}

bool CachedPolicy::try_start(const Round& round, JobId id) {
  if (!free_.take(round.view.job(id), places_)) return false;
  start_at(round, id, places_);
  return true;
}

void CachedPolicy::start_at(const Round& round, JobId id, std::span<const Placement> places) {
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    round.plan.actions.push_back(
        {.kind = ActionKind::kStartTask, .job = id, .task = k, .to = places[k]});
  }
  acted_on_.push_back(id);
}

void CachedPolicy::start_replica(const Round& round, JobId id, std::uint32_t replica,
                                 std::span<const Placement> places) {
  const std::uint32_t first = replica * round.view.job(id).partitions();
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    round.plan.actions.push_back(
        {.kind = ActionKind::kStartTask, .job = id, .task = first + k, .to = places[k]});
  }
}

void CachedPolicy::start_parameter_server(const Round& round, JobId id, ServerId server) {
  const Job& job = round.view.job(id);
  if (job.parameter_servers == 0) return;
  round.plan.actions.push_back(
      {.kind = ActionKind::kStartTask, .job = id, .task = job.workers(), .to = {server, {}}});
}

void CachedPolicy::preempt_replica(const Round& round, JobId id, std::uint32_t replica) {
  round.plan.actions.push_back(
      {.kind = ActionKind::kPreemptReplica, .job = id, .to = {}, .value = replica});
}

void CachedPolicy::carry_out_walk(const Round& round, const PlaceWalk& walk) {
  for (const auto& [id, displaced_by, goes_on] : walk.stops()) {
    preempt(round, id);
    if (goes_on) continue;
    give_reason(round, id, {.code = ReasonCode::kPreempted, .subject = displaced_by.value});
  }
  for (const auto& [id, places] : walk.starts()) start_at(round, id, places);
}

void CachedPolicy::preempt(const Round& round, JobId id) {
  round.plan.actions.push_back({.kind = ActionKind::kPreemptJob, .job = id, .to = {}});
  acted_on_.push_back(id);
}

bool CachedPolicy::waits_for_places(const Round& round, JobId id) {
  if (round.view.state(id).status != JobStatus::kPending) return false;
  const Reason never = never_reason(*round.view.cluster, round.view.job(id));
  if (never.code == ReasonCode::kNone) return true;
  give_reason(round, id, never);
  return false;
}

void CachedPolicy::give_reason(const Round& round, JobId id, const Reason& reason) {
  const Reason& known = round.view.reasons[id.index()];
  // What is available changes all the time; it alone is no news.
  if (known.code == reason.code && known.subject == reason.subject && known.asked == reason.asked) {
    return;
  }
  round.plan.reasons.push_back({id, reason});
}

void CachedPolicy::set_head(const Round& round, std::uint32_t slot, JobId id) {
  if (round.view.head(slot) != id) round.plan.heads.push_back({slot, id});
}

void CachedPolicy::explain_wait(const Round& round, JobId id, std::span<const KeptRoom> kept,
                                bool others_first) const {
  const Job& job = round.view.job(id);
  for (const KeptRoom& room : kept) {
    if (room.job == id || (room.types & job.gpu_types) == 0) continue;
    return give_reason(round, id, {.code = ReasonCode::kReserved, .subject = room.job.value});
  }
  const Reason& known = round.view.reasons[id.index()];
  if (known.code == ReasonCode::kPreempted && known.subject < round.view.jobs.size() &&
      round.view.states[known.subject].status == JobStatus::kRunning) {
    return;
  }
  if (!others_first) return give_reason(round, id, shortage(job));
  give_reason(round, id, {.code = ReasonCode::kOrderedLater, .asked = job.gpu_milli()});
}

Reason CachedPolicy::shortage(const Job& job) const {
  const std::int64_t available = free_.free_milli(job.gpu_types);
  return {
      .code = available >= job.gpu_milli() ? ReasonCode::kFragmented : ReasonCode::kNoFreeDevice,
      .asked = job.gpu_milli(),
      .available = available};
}

Reason never_reason(const Cluster& cluster, const Job& job) {
  if (job.gpu_milli_per_task == 0) {
    return {.code = cluster.servers.empty() ? ReasonCode::kNeverFits : ReasonCode::kNone};
  }
  const std::int64_t devices = cluster.gpus_of(job.gpu_types);
  // The usual case: a device holds at least one task.
  if (devices >= job.workers() && devices > 0 && job.gpu_memory_mib_per_task == 0) return {};
  if (devices == 0) return {.code = ReasonCode::kNeverGpuType, .asked = job.gpu_milli()};
  std::int64_t tasks = 0;  // that all devices together hold
  if (job.gpu_memory_mib_per_task == 0) {
    tasks = devices * tasks_in(job, kWholeGpuMilli, kUnlimitedMib);
  } else {
    const GpuTypeMask types = usable_types(cluster, job);
    for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
      const GpuTypeMask type = GpuTypeMask{1} << t;
      if ((types & type) == 0) continue;
      tasks += cluster.gpus_of(type) * tasks_in(job, cluster.gpu_types[t]);
    }
  }
  if (tasks < job.workers()) {
    return {.code = ReasonCode::kNeverFits,
            .asked = job.gpu_milli(),
            .available = devices * kWholeGpuMilli};
  }
  return {};
}

}  // namespace berth
