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

enum class Departure : std::uint8_t { kPreempted, kEvicted };

class ClusterState {
 public:
  // `jobs` are known beforehand, by order of arrival, and become visible one by one. first_task is
  // set here. `cluster` must outlive the state.
  ClusterState(const Cluster& cluster, std::vector<Job> jobs, std::vector<TaskGraph> graphs = {});

  // The next job of the list becomes visible, pending.
  JobId arrive();
  // Adds a job that arrives now, after all known ones have.
  JobId add_job(const Job& job);
  // The same of a job with a past: it waits or has ended as `state` says, or runs on with `tasks`.
  // If there is no room for these it waits, evicted.
  JobId add_known_job(const Job& job, const JobState& state, std::span<const TaskPlace> tasks,
                      TimeUs now_us);
  // For jobs that are added.
  TaskGraphId add_graph(TaskGraph graph);

  // Each of these changes nothing and says why if it is refused; an empty text: done.
  // Some tasks start: of a pending job, which runs from now on, or further ones of a running job.
  [[nodiscard]] std::string start_tasks(JobId id, std::span<const TaskPlace> tasks, TimeUs now_us);
  // Placed tasks of a running job change their places, all at once.
  [[nodiscard]] std::string move_tasks(JobId id, std::span<const TaskPlace> tasks, TimeUs now_us);
  // Placed tasks of a running job leave their places; without any it is pending again.
  [[nodiscard]] std::string remove_tasks(JobId id, std::span<const std::uint32_t> tasks,
                                         Departure why, TimeUs now_us);
  // A placed task on a device gets a copy on a server where neither it nor a copy of it is; up to
  // kMostTaskCopies of them. They go with their task, and all copies of a job when it moves.
  [[nodiscard]] std::string copy_task(JobId id, const TaskPlace& copy, TimeUs now_us);
  [[nodiscard]] std::string drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us);
  // The copy stays as the task, which leaves its place.
  [[nodiscard]] std::string take_over(JobId id, const TaskPlace& copy, TimeUs now_us);
  // A pending or running job ends.
  [[nodiscard]] std::string end_job(JobId id, JobStatus status, TimeUs now_us);
  // What runs there must have been removed before it goes down.
  void set_server_up(ServerId id, bool up);
  void set_device_up(DeviceId id, bool up);
  void set_stop(JobId id, StopOption stop);

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
  // Where its tasks are, or were last; empty for a job that never fits.
  [[nodiscard]] std::span<const Placement> places_of(JobId id) const {
    const Job& job = jobs_[id.index()];
    return job.first_task == Job::kNoTasks
               ? std::span<const Placement>{}
               : std::span(placements_).subspan(job.first_task, job.tasks);
  }
  [[nodiscard]] std::span<const TaskCopy> copies() const { return copies_; }
  [[nodiscard]] std::span<const TaskCopy> copies_of(JobId id) const {
    return berth::copies_of(copies_, id);
  }
  // GPUs times the time that copies have held them.
  [[nodiscard]] double copies_held_gpu_us(TimeUs now_us) const;
  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  void log(ChangeKind kind, std::uint32_t id);
  void log_servers(std::span<const Placement> places);
  // Why a task cannot start at a place; put into words only when it is told.
  enum class Obstacle : std::uint8_t {
    kNone,
    kNoSuchTask,
    kNoSuchServer,
    kServerDown,
    kNeedsNoDevice,
    kNoSuchDevice,
    kDeviceDown,
    kGpuType,
    kDeviceFull,
    kDeviceMemory,
  };
  [[nodiscard]] Obstacle obstacle(const Job& job, const TaskPlace& task) const;
  [[nodiscard]] std::string in_words(Obstacle obstacle, const Job& job, const Placement& to) const;
  [[nodiscard]] std::string take_all(const Job& job, std::span<const TaskPlace> tasks);
  void take(const Job& job, std::uint32_t task, const Placement& place);
  void give(const Job& job, std::uint32_t task, const Placement& place);
  [[nodiscard]] std::span<Placement> places_of(const Job& job);
  [[nodiscard]] std::vector<TaskCopy>::iterator find_copy(JobId id, const TaskPlace& copy);
  [[nodiscard]] double held_gpu_us(const TaskCopy& copy, TimeUs now_us) const;
  std::vector<TaskCopy>::iterator end_copy(std::vector<TaskCopy>::iterator copy, TimeUs now_us);
  template <class Ends>
  void end_copies(JobId id, TimeUs now_us, const Ends& ends);
  void begin(JobId id, TimeUs now_us);
  void become_pending(JobId id, Departure why, TimeUs now_us);
  void release(const Job& job);

  const Cluster* cluster_;
  std::vector<Job> jobs_;
  std::vector<JobState> states_;
  std::vector<Reason> reasons_;
  std::vector<JobId> heads_;
  std::vector<Placement> placements_;
  std::vector<TaskCopy> copies_;   // by job and task, then the oldest first
  double copies_held_gpu_us_ = 0;  // of those that have gone
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
