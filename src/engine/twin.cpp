#include "engine/twin.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

struct TwinJob {
  JobState state;
  TimeUs work_left_us = 0;  // at last_start_us if it runs
  std::vector<Placement> places;
  Reason reason{.code = ReasonCode::kNotConsidered};
};

class Twin {
 public:
  Twin(const Cluster& cluster, const Workload& workload, Policy& policy,
       const Predictors& predictors, std::uint64_t seed, EventLog& log)
      : cluster_(cluster),
        workload_(workload),
        policy_(policy),
        predictors_(predictors),
        rng_(Rng(seed).fork("policy")),
        log_(log) {
    for (const JobTruth& truth : workload.truths) jobs_.push_back({.work_left_us = truth.work_us});
  }

  Status run() {
    while (true) {
      const TimeUs next_us = next_instant();
      if (next_us == kNever) return {};
      now_us_ = next_us;
      for (std::size_t j = 0; j < jobs_.size(); ++j) complete_if_due(j);
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if (workload_.jobs[j].submit_us == now_us_ && j >= arrived_) {
          arrived_ = j + 1;
          log_.record(now_us_, EventKind::kArrive, static_cast<std::uint32_t>(j));
        }
      }
      BERTH_CHECK_OK(decide());
    }
  }

 private:
  [[nodiscard]] TimeUs end_of(const TwinJob& job) const {
    return job.state.status == JobStatus::kRunning ? job.state.last_start_us + job.work_left_us
                                                   : kNever;
  }

  [[nodiscard]] TimeUs next_instant() const {
    TimeUs next_us = kNever;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      next_us = std::min(next_us, end_of(jobs_[j]));
      if (j >= arrived_) next_us = std::min(next_us, workload_.jobs[j].submit_us);
    }
    return next_us;
  }

  void stop_running(TwinJob& job) const {
    const TimeUs ran_us = now_us_ - job.state.last_start_us;
    job.work_left_us -= ran_us;
    job.state.attained_us += ran_us;
    job.state.last_stop_us = now_us_;
  }

  void complete_if_due(std::size_t j) {
    TwinJob& job = jobs_[j];
    if (end_of(job) != now_us_) return;
    stop_running(job);
    job.state.status = JobStatus::kFinished;
    log_.record(now_us_, EventKind::kFinish, static_cast<std::uint32_t>(j));
  }

  Status decide() {
    // Everything a view shows, from the jobs alone.
    std::vector<Job> specs(workload_.jobs.begin(),
                           workload_.jobs.begin() + static_cast<std::ptrdiff_t>(arrived_));
    std::vector<JobState> states;
    std::vector<Reason> reasons;
    std::vector<Placement> placements;
    std::vector<DeviceState> devices(cluster_.gpus());
    std::vector<ServerState> servers;
    for (const Server& server : cluster_.servers) servers.push_back({server.capacity, true});
    for (std::size_t j = 0; j < arrived_; ++j) {
      const TwinJob& job = jobs_[j];
      states.push_back(job.state);
      reasons.push_back(job.reason);
      specs[j].first_task =
          job.places.empty() ? Job::kNoTasks : static_cast<std::uint32_t>(placements.size());
      placements.insert(placements.end(), job.places.begin(), job.places.end());
      if (job.state.status != JobStatus::kRunning) continue;
      for (const Placement& place : job.places) {
        if (!place.device.valid()) continue;
        devices[place.device.index()].free_milli -= specs[j].gpu_milli_per_task;
        ++devices[place.device.index()].tasks;
        servers[place.server.index()].free[Resource::kGpuMilli] -= specs[j].gpu_milli_per_task;
      }
    }
    ClusterView view;
    view.now_us = now_us_;
    view.cluster = &cluster_;
    view.jobs = specs;
    view.states = states;
    view.reasons = reasons;
    view.heads = heads_;
    view.placements = placements;
    view.devices = devices;
    view.servers = servers;
    policy_.drop_caches();
    Plan plan;
    policy_.decide(view, predictors_, rng_, plan);
    return apply(plan);
  }

  Status apply(const Plan& plan) {
    for (std::size_t i = 0; i < plan.actions.size(); ++i) {
      const Action& action = plan.actions[i];
      TwinJob& job = jobs_[action.job.index()];
      if (action.kind == ActionKind::kPreemptJob) {
        stop_running(job);
        job.state.status = JobStatus::kPending;
        ++job.state.preemptions;
        job.reason = {.code = ReasonCode::kPreempted};
        log_.record(now_us_, EventKind::kPreempt, action.job.value);
      } else if (action.kind == ActionKind::kStartTask) {
        if (action.task == 0) job.places.clear();
        job.places.push_back(action.to);
        if (action.task + 1 < workload_.jobs[action.job.index()].tasks) continue;
        job.state.status = JobStatus::kRunning;
        job.state.last_start_us = now_us_;
        job.state.first_start_us = std::min(job.state.first_start_us, now_us_);
        job.reason = {};
        log_.record(now_us_, EventKind::kStart, action.job.value, job.places);
      } else {
        return fail(internal_error(fmt::format("the twin does not know action {}", i)));
      }
    }
    for (const ReasonUpdate& update : plan.reasons) {
      TwinJob& job = jobs_[update.job.index()];
      if (job.state.status == JobStatus::kPending) job.reason = update.reason;
    }
    for (const HeadUpdate& head : plan.heads) {
      if (heads_.size() <= head.slot) heads_.resize(head.slot + 1);
      heads_[head.slot] = head.job;
    }
    return {};
  }

  const Cluster& cluster_;
  const Workload& workload_;
  Policy& policy_;
  const Predictors& predictors_;
  Rng rng_;
  EventLog& log_;
  std::vector<TwinJob> jobs_;
  std::vector<JobId> heads_;
  std::size_t arrived_ = 0;
  TimeUs now_us_ = 0;
};

}  // namespace

Status simulate_slowly(const Cluster& cluster, const Workload& workload, Policy& policy,
                       const Predictors& predictors, std::uint64_t seed, EventLog& log) {
  return Twin(cluster, workload, policy, predictors, seed, log).run();
}

}  // namespace berth
