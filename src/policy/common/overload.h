// Overloaded servers, and which tasks leave them for where (MLFS, overloaded servers), as published
// or made sound (docs/adr/0013-migration-that-pays.md); what differs is in the rules.
//
// A server is overloaded while its tasks really use more than the limit of a resource, or of one of
// its devices, by what was measured. Then tasks leave, one after another, until it is not:
//
// - The task nearest to the ideal virtual task: the most use of each overloaded resource, the least
//   of each other, no traffic with the tasks that stay. While a device is overloaded it is one of
//   the share p_s of lowest priority among the tasks on overloaded devices, at least one.
// - It moves straight to the nearest ideal server that it does not overload. If there is none it
//   stays, or waits in the queue.
//
// Tasks without a GPU, as parameter servers are, do not move, and a device with one task is never
// overloaded: the task would be as slow elsewhere.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/id_set.h"
#include "place/ideal_server.h"
#include "place/task_traffic.h"
#include "policy/policy.h"

namespace berth {

struct ReliefRules {
  double limit = 1.0;                   // where the slow-down begins
  TimeUs sustained_us = 3 * kUsPerMin;  // how long an overload has lasted before anybody leaves
  TimeUs cooldown_us = 20 * kUsPerMin;  // how long a job stays where it was started or moved
  std::optional<TimeUs> cost_us = kUsPerMin;  // what a move must save, of the time of its job and
                                              // of those that it slows down; nothing: not looked at
  double share = 0.1;                         // p_s
  bool queues = false;                        // tasks for which there is no place wait

  // Above h_r, at once, whatever it costs, and into the queue.
  [[nodiscard]] static ReliefRules as_published(double h_r, double p_s) {
    return {.limit = h_r,
            .sustained_us = 0,
            .cooldown_us = 0,
            .cost_us = {},
            .share = p_s,
            .queues = true};
  }
};

class OverloadRelief {
 public:
  struct Move {
    JobId job;
    std::uint32_t task = 0;
    Placement to;  // invalid: into the queue
  };
  // Of a task that runs: its priority, and how long its job still runs.
  struct Standing {
    double priority = 0.0;
    TimeUs remaining_us = 0;
  };
  using AskStanding = std::function<Standing(JobId, std::uint32_t task)>;

  OverloadRelief(FreeIndex& free, const IdealServerRules& places, const ReliefRules& rules)
      : free_(free), servers_(free, places), rules_(rules) {}

  // What leaves now; `free` has it applied. To places that are free beforehand, so that any order
  // will do. Valid until the next call. Nothing where jobs do not report what they use.
  [[nodiscard]] std::span<const Move> find(const ClusterView& view, const IdSet& running,
                                           const AskStanding& standing);

 private:
  enum Kind : std::size_t { kGpu, kCpu, kMemory, kKinds };
  // Parts of the capacity: of the task's device, and of its server.
  using Parts = std::array<double, kKinds>;
  struct Resident {
    JobId job;
    std::uint32_t task = 0;
    Placement at;
    Parts use{};
    TimeUs since_us = 0;  // when its job last started or moved
    bool moved = false;
  };

  // Of what is on a server: a range of order_.
  [[nodiscard]] std::span<const std::uint32_t> on(ServerId server) const {
    return std::span(order_).subspan(first_[server.index()],
                                     first_[server.index() + 1] - first_[server.index()]);
  }
  [[nodiscard]] Resident resident_of(JobId job, std::uint32_t task, const Placement& at,
                                     const TaskUse& use) const;
  [[nodiscard]] bool read_uses(const IdSet& running);
  void sort_by_server();
  void add(const Resident& resident, double sign);
  [[nodiscard]] bool device_overloaded(DeviceId device) const {
    return device_tasks_[device.index()] > 1 && device_use_[device.index()] > rules_.limit;
  }
  [[nodiscard]] bool host_overloaded(ServerId server) const;
  [[nodiscard]] bool overloaded(ServerId server) const;
  [[nodiscard]] bool sustained(ServerId server) const;
  [[nodiscard]] bool worth_it(const Resident& mover, const Placement& to, double lost_before_us);
  [[nodiscard]] bool relieve_once(ServerId server);
  void list_movable(ServerId server);
  void keep_lowest_share();
  [[nodiscard]] std::uint32_t nearest_to_ideal(ServerId server);
  [[nodiscard]] double traffic_with(const Resident& mover, ServerId server);
  [[nodiscard]] bool has_really_room(const Resident& mover, const Placement& to) const;
  [[nodiscard]] DeviceId least_used_device(const Job& job, ServerId server) const;
  [[nodiscard]] Placement target(const Resident& mover);
  [[nodiscard]] double slowdown(const Resident& resident) const;
  [[nodiscard]] double lost_us(ServerId server) const;
  [[nodiscard]] double lost_after_move_us(const Resident& mover, const Placement& to);

  FreeIndex& free_;
  IdealServer servers_;
  ReliefRules rules_;
  TaskTraffic traffic_;
  const ClusterView* view_ = nullptr;
  const AskStanding* standing_ = nullptr;
  std::vector<Resident> residents_;   // job by job
  std::vector<std::uint32_t> first_;  // by ServerId, and one more: in order_
  std::vector<std::uint32_t> order_;  // in residents_, server by server
  std::vector<Parts> server_use_;     // by ServerId; of kGpu nothing
  std::vector<double> device_use_;    // by DeviceId
  std::vector<std::uint32_t> device_tasks_;
  std::vector<std::uint32_t> movable_;  // scratch: in residents_
  std::vector<Move> moves_;
  std::vector<std::uint32_t> left_;  // in residents_
};

}  // namespace berth
