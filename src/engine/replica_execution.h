// Any jobs on any devices, replica by replica: real use, slow-downs, links, costs, failures. Jobs
// without training facts (as-traced) are the simplest case: one replica, an iteration a
// microsecond.
//
// refresh() takes time in proportion to what shares a device, an overloaded server or a short link
// with what changed.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/contention.h"
#include "engine/event_queue.h"
#include "engine/execution.h"
#include "engine/iteration.h"
#include "engine/network.h"
#include "engine/progress.h"
#include "engine/workload.h"
#include "model/cluster_state.h"

namespace berth {

class ReplicaExecution final : public Execution {
 public:
  // All must outlive it. `faults`: whether servers or devices may fail or be slow.
  ReplicaExecution(const Workload& workload, const ClusterState& state, ProgressRule rule,
                   bool faults);

  void start(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
             TimeUs now_us) override;
  void leave(JobId id, std::span<const std::uint32_t> tasks, Departure why, TimeUs now_us) override;
  void move(JobId id, std::span<const TaskPlace> tasks, std::span<const Placement> before,
            TimeUs now_us) override;
  void copy(JobId id, const TaskPlace& copy, TimeUs now_us) override;
  void drop_copy(JobId id, const TaskPlace& copy, TimeUs now_us) override;
  void take_over(JobId id, const TaskPlace& copy, const Placement& before, TimeUs now_us) override;
  void end(JobId id, TimeUs now_us) override;
  void set_device_speed(DeviceId id, std::int32_t speed_ppm) override;
  void stop_at(JobId id, std::int64_t iterations) override;
  void set_stop(JobId id) override;

  [[nodiscard]] bool due(const FutureEvent& event, TimeUs now_us) override;
  [[nodiscard]] bool ends_early(JobId id) const override;
  [[nodiscard]] bool refresh(TimeUs now_us, EventQueue& queue) override;

  [[nodiscard]] bool whole(JobId id) const override;
  void failing_with(JobId id, std::uint32_t task, std::vector<std::uint32_t>& tasks) const override;
  void tasks_at(ServerId server, DeviceId device,
                std::vector<std::pair<JobId, std::uint32_t>>& out) const override;
  [[nodiscard]] bool copy_is_ready(JobId id, const TaskPlace& copy, TimeUs now_us) const override;

  [[nodiscard]] std::int64_t iterations(JobId id, TimeUs now_us) const override;
  [[nodiscard]] double iterations_per_s(JobId id) const override;
  [[nodiscard]] double best_replica_iterations_per_s(JobId id) const override;
  [[nodiscard]] std::vector<JobOutcome> outcomes(TimeUs now_us) override;
  [[nodiscard]] bool work_is_conserved() const override;

 private:
  static constexpr std::uint32_t kNoSlot = 0xFFFFFFFFU;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  struct JobRun {
    WorkUnits done = 0;
    WorkUnits rate = 0;
    WorkUnits target = 0;
    TimeUs since_us = 0;              // `done` is of then
    TimeUs next_us = kNever;          // its event in the queue
    std::int64_t limit = kNoLimit;    // iterations, by stop_at()
    std::int64_t saved = 0;           // iterations in the last checkpoint
    std::int64_t by_deadline = -1;    // iterations done by it, once it has passed
    Picoseconds least_iteration = 0;  // of a replica; 0: none has computed
    double bytes_per_us = 0;          // between servers
    double held_gpu_us = 0;           // until since_us
    std::uint32_t first_replica = 0;
    std::uint32_t generation = 0;
    std::uint32_t complete = 0;  // replicas
    std::uint32_t workers_placed = 0;
    bool parameter_server_placed = false;
    bool ran = false;              // before: its state is where it ran last
    bool owes_checkpoint = false;  // was stopped with one, which the next start pays
    bool touched = false;          // by refresh()'s to-do list
  };
  struct ReplicaRun {
    TimeUs ready_us = kNever;  // loads until then; kNever: not complete
    Picoseconds pace = 0;      // of an iteration, if no link is short
    std::int64_t bytes = 0;    // between servers, per iteration
    JobId job;
    std::uint32_t placed = 0;  // its tasks, the parameter server not counted
    bool dirty = false;
  };
  struct TaskRef {
    JobId job;
    std::uint32_t task = 0;
  };
  struct CopyRun {
    JobId job;
    TaskPlace place;
    TimeUs ready_us = 0;  // loads until then
  };

  // Facts of a job from its first start to its end, in slots that are used again: what is looked at
  // all the time stays together.
  [[nodiscard]] JobRun& run_of(JobId id) { return runs_[slots_[id.index()]]; }
  [[nodiscard]] const JobRun& run_of(JobId id) const { return runs_[slots_[id.index()]]; }
  [[nodiscard]] bool has_run(JobId id) const { return slots_[id.index()] != kNoSlot; }
  JobRun& open_run(JobId id);
  void close_run(JobId id, TimeUs now_us);
  [[nodiscard]] std::uint32_t take_replicas(std::uint32_t count);
  [[nodiscard]] JobOutcome outcome(JobId id, TimeUs now_us) const;

  [[nodiscard]] const Job& spec(JobId id) const { return state_->job(id); }
  [[nodiscard]] const TrainingTruth* truth(JobId id) const;
  [[nodiscard]] const TaskUse* use(JobId id, std::uint32_t task) const;
  [[nodiscard]] std::span<const Placement> places(JobId id) const;
  [[nodiscard]] std::uint32_t replica_of(JobId id, std::uint32_t task) const;
  [[nodiscard]] bool is_complete(JobId id, const ReplicaRun& replica) const;
  [[nodiscard]] std::int64_t iterations_to_run(JobId id) const;
  [[nodiscard]] std::int64_t kept_after(JobId id, Departure why) const;

  // What it holds now, for so long.
  [[nodiscard]] double held_gpu_us(const JobRun& run, JobId id, TimeUs passed_us) const;
  void settle(JobRun& run, JobId id, TimeUs now_us);
  void note_deadline(JobRun& run, JobId id, TimeUs now_us) const;
  void fall_back(JobRun& run, JobId id, Departure why);
  void attach(JobId id, const TaskPlace& place);
  void detach(JobId id, const TaskPlace& place);
  void change_use(JobId id, const TaskPlace& place, int sign);
  [[nodiscard]] std::span<const CopyRun> copies_of(JobId id) const;
  template <class Ends>
  void end_copies(JobId id, const Ends& ends);
  void list_ready_copies(JobId id, std::uint32_t replica, TimeUs now_us);
  // What a start or move costs that brings state with it: the checkpoint owed, and the transfer.
  [[nodiscard]] TimeUs resume_us(JobRun& run, JobId id, std::span<const TaskPlace> tasks,
                                 std::span<const Placement> before);
  [[nodiscard]] std::int64_t state_bytes(JobId id, std::uint32_t task) const;
  void complete(JobRun& run, JobId id, TimeUs ready_us);
  void mark_server(ServerId server, DeviceId only_device);
  void mark_replica(std::uint32_t replica);
  void mark_job(JobId id);
  void touch(JobId id);
  void count_overloads();
  [[nodiscard]] std::int64_t slowdown_ppm(JobId id, std::uint32_t task, const Placement& at) const;
  void update_replica(std::uint32_t index, TimeUs now_us);
  [[nodiscard]] bool update_job(JobId id, TimeUs now_us, EventQueue& queue);

  const Workload* workload_;
  const ClusterState* state_;
  ProgressRule rule_;
  bool tracks_tasks_;        // who is where matters: by its use, or because it may fail
  bool all_at_once_ = true;  // every device has speed 1
  IterationTimer timer_;
  Network network_;
  std::vector<std::uint32_t> slots_;  // by JobId: of its JobRun
  std::vector<JobRun> runs_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<ReplicaRun> replicas_;  // by JobRun::first_replica + replica
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_replicas_;  // first ones, by how many
  std::vector<JobOutcome> outcomes_;  // by JobId, of training jobs that ended
  WorkUnits kept_by_ended_ = 0;
  // Where tasks are, if tracks_tasks_.
  std::vector<std::vector<TaskRef>> server_tasks_;  // by ServerId
  std::vector<std::uint32_t> position_;             // by Job::first_task + task, in server_tasks_
  std::vector<ServerUse> server_use_;               // by ServerId
  std::vector<DeviceUse> device_use_;               // by DeviceId
  std::vector<std::int64_t> device_slow_ppm_;       // by DeviceId: its type and its health
  std::vector<std::uint32_t> devices_over_;         // by ServerId: of its devices
  std::vector<std::uint8_t> overloaded_;            // by ServerId, at the last refresh()
  std::vector<CopyRun> copies_;                     // by job; few, and most often none
  // To do in refresh().
  std::vector<std::uint32_t> dirty_;
  std::vector<JobId> touched_;
  std::vector<std::uint32_t> changed_servers_;  // may repeat
  // Scratch.
  std::vector<std::int64_t> slow_;
  std::vector<CopyPace> ready_copies_;
  std::vector<PairBytes> pairs_;
  std::vector<std::uint32_t> rerated_;
};

}  // namespace berth
