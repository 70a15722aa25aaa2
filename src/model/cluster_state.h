// The state behind a ClusterView: applies what happens, keeps the flat arrays and the list of
// changes. The simulator and the real back ends share it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/job.h"
#include "model/plan.h"
#include "model/view.h"

namespace berth {

// Why an action was not applied. A policy in order never sees one.
struct Refusal {
  std::size_t action = 0;  // index in Plan::actions
  std::string why;
};

class ClusterState {
 public:
  // `jobs` are known beforehand, by order of arrival, and become visible one by one. first_task is
  // set here. `cluster` must outlive the state.
  ClusterState(const Cluster& cluster, std::vector<Job> jobs);

  // The next job of the list becomes visible, pending.
  JobId arrive();
  // Adds a job that arrives now, after all known ones have.
  JobId add_job(const Job& job);

  // All tasks of a pending job start at these places; nothing is changed on a refusal (empty:
  // done).
  [[nodiscard]] std::string start_job(JobId id, std::span<const Placement> places, TimeUs now_us);
  // A running job leaves its devices and is pending again.
  [[nodiscard]] std::string preempt_job(JobId id, TimeUs now_us);
  // A pending or running job ends.
  [[nodiscard]] std::string end_job(JobId id, JobStatus status, TimeUs now_us);
  void set_server_up(ServerId id, bool up);

  void set_reason(JobId id, const Reason& reason) { reasons_[id.index()] = reason; }
  void set_head(const HeadUpdate& head);
  [[nodiscard]] JobId head(std::uint32_t slot) const {
    return slot < heads_.size() ? heads_[slot] : JobId{};
  }

  [[nodiscard]] ClusterView view(TimeUs now_us) const;
  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] std::span<const Job> all_jobs() const { return jobs_; }
  [[nodiscard]] std::size_t arrived() const { return arrived_; }
  [[nodiscard]] const Job& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] const JobState& state(JobId id) const { return states_[id.index()]; }
  [[nodiscard]] const Reason& reason(JobId id) const { return reasons_[id.index()]; }
  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  void log(ChangeKind kind, std::uint32_t id);
  void log_servers(std::span<const Placement> places);
  void release(const Job& job);
  [[nodiscard]] std::string occupy(const Job& job, std::span<const Placement> places);
  void vacate(const Job& job, std::span<const Placement> places);

  const Cluster* cluster_;
  std::vector<Job> jobs_;
  std::vector<JobState> states_;
  std::vector<Reason> reasons_;
  std::vector<JobId> heads_;
  std::vector<Placement> placements_;
  std::vector<DeviceState> devices_;
  std::vector<ServerState> servers_;
  std::vector<TaskGraph> graphs_;
  std::vector<Change> changes_;
  Version version_ = 0;
  std::size_t arrived_ = 0;
  std::size_t running_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace berth
