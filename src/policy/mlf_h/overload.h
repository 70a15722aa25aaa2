// Overloaded servers, and which tasks leave them for where (MLFS, overloaded servers; made sound:
// docs/adr/0013-migration-that-pays.md).
//
// A server is overloaded while its tasks really use more than it has of a resource, or more than
// all of one of its devices: above 1.0, where the slow-down begins, and by what was measured. It is
// relieved when that has lasted for some rounds, one task after another until it is no longer
// overloaded or nobody is worth moving:
//
// - The task nearest to the ideal virtual task moves: the most use of each overloaded resource, the
//   least of each other, no traffic with the tasks that stay. While a device is overloaded it is
//   one of the share p_s of lowest priority among the tasks on overloaded devices.
// - It moves straight to the nearest ideal server that it does not overload, if what that saves, of
//   its own time and of those that it slows down, is more than the move costs. If none is found it
//   stays: the queue would hold what a replica did not leave whole.
// - A job that was started or moved lately stays.
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
  TimeUs sustained_us = 3 * kUsPerMin;
  TimeUs cooldown_us = 20 * kUsPerMin;
  TimeUs cost_us = kUsPerMin;  // what a move takes of its job's time
  double share = 0.1;          // p_s
};

class OverloadRelief {
 public:
  struct Move {
    JobId job;
    std::uint32_t task = 0;
    Placement to;
  };
  // Of a running job: its priority, and how long it still runs.
  struct Standing {
    double priority = 0.0;
    TimeUs remaining_us = 0;
  };
  using AskStanding = std::function<Standing(JobId)>;

  OverloadRelief(FreeIndex& free, const IdealServerRules& places, const ReliefRules& rules)
      : free_(free), servers_(free, places), rules_(rules) {}

  // Moves that are worth it now, at most one a job; `free` has them applied. Valid until the next
  // call. Nothing where jobs do not report what they use.
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
  [[nodiscard]] bool read_uses(const IdSet& running);
  void sort_by_server();
  void add(const Resident& resident, double sign);
  [[nodiscard]] bool device_overloaded(DeviceId device) const {
    return device_tasks_[device.index()] > 1 && device_use_[device.index()] > 1.0;
  }
  [[nodiscard]] bool host_overloaded(ServerId server) const;
  [[nodiscard]] bool overloaded(ServerId server) const;
  [[nodiscard]] bool sustained(ServerId server) const;
  [[nodiscard]] bool relieve_once(ServerId server);
  void list_movable(ServerId server);
  void keep_lowest_share();
  [[nodiscard]] std::uint32_t nearest_to_ideal(ServerId server);
  [[nodiscard]] double traffic_with(const Resident& mover, ServerId server);
  [[nodiscard]] bool has_really_room(const Resident& mover, const Placement& to) const;
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
};

}  // namespace berth
