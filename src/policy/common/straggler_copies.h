// Copies of tasks on slow devices (MLFS, stragglers; docs/adr/0017-straggler-copies.md).
//
// - A straggler is a task whose device is `factor` times as slow beside its type as the devices of
//   its job are in the median (the lower one), and has been for a while. A job of one task is
//   compared with a device in health. How slow devices are their drivers tell.
// - It gets copies where that saves its job more time than `cost_us`, by what is left of the job:
// on
//   the nearest ideal server (place/ideal_server.h) that neither it nor a copy of it is on, that
//   they would not really overload, and on a device less slow than its own.
// - A copy goes once its task is no straggler, or its own device is as slow; and when a job that
//   waits takes its room: copies have only what nobody else needs.
#pragma once

#include <functional>
#include <vector>

#include "base/id_set.h"
#include "place/ideal_server.h"
#include "place/task_traffic.h"
#include "policy/policy.h"

namespace berth {

struct CopyRules {
  std::size_t most_copies = 0;  // of a task
  double factor = 1.5;
  TimeUs sustained_us = 3 * kUsPerMin;  // how long it has been slow, and its job has been there
  TimeUs cost_us = kUsPerMin;
};

class StragglerCopies {
 public:
  // How long a job still runs.
  using AskRemaining = std::function<TimeUs(JobId)>;

  StragglerCopies(FreeIndex& free, const IdealServerRules& places, const CopyRules& rules)
      : free_(free), servers_(free, places), rules_(rules) {}

  // Before jobs that wait are placed: what copies hold is free for them.
  void lend(const ClusterView& view);
  // After that: copies whose room was taken go, before anything else in the plan.
  void take_back(const ClusterView& view, Plan& plan);
  // Once a round, last of all: drops copies and makes others. Leaves jobs alone that the plan acts
  // on.
  void renew(const ClusterView& view, const IdSet& running, const AskRemaining& remaining,
             Plan& plan);

 private:
  // Parts of a server's capacity.
  struct HostUse {
    double cpu = 0.0;
    double memory = 0.0;
  };

  [[nodiscard]] bool read_devices();
  void read_uses(const IdSet& running);
  void add_use(JobId job, std::uint32_t task, const Placement& at);
  void list_acted_on(const Plan& plan, bool leaving_only);
  [[nodiscard]] bool is_acted_on(JobId job) const;
  [[nodiscard]] double slowness(const Placement& at) const { return slow_[at.device.index()]; }
  [[nodiscard]] double usual_slowness(JobId job);
  void drop_some(Plan& plan);
  void copy_some(JobId job, TimeUs remaining_us, Plan& plan);
  [[nodiscard]] bool has_straggled(const Placement& at, double usual) const;
  [[nodiscard]] Placement target(JobId job, std::uint32_t task);
  [[nodiscard]] bool has_really_room(JobId job, std::uint32_t task, const Placement& to) const;
  [[nodiscard]] double saved_us(JobId job, std::uint32_t task, const Placement& to,
                                TimeUs remaining_us);
  [[nodiscard]] double more_link_us(JobId job, std::uint32_t task, const Placement& to);

  FreeIndex& free_;
  IdealServer servers_;
  CopyRules rules_;
  TaskTraffic traffic_;
  const ClusterView* view_ = nullptr;
  bool lent_ = false;
  // Of this round.
  std::vector<double> slow_;              // by DeviceId: times, beside its type in health
  std::vector<TimeUs> slow_since_us_;     // by DeviceId
  std::vector<double> device_use_;        // by DeviceId: part of its time
  std::vector<std::uint32_t> on_device_;  // by DeviceId: tasks and copies
  std::vector<HostUse> host_use_;         // by ServerId
  std::vector<JobId> acted_on_;           // by the plan; sorted
  // Scratch.
  std::vector<double> gang_;
  std::vector<Action> drops_;
};

}  // namespace berth
