// What is free, as flat arrays: copied in a microsecond, so that many plans can be tried. The index
// of free places (free_index.h) answers faster for one plan that is carried out; both follow the
// same rules, and a test compares them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "model/job.h"
#include "model/view.h"

namespace berth {

class Room {
 public:
  // All that is free in the view; the view's cluster must outlive this.
  void read(const ClusterView& view);

  // Gives back the places of tasks of this job, or takes just these; without a device: nothing.
  void give_back(const Job& job, std::span<const Placement> places);
  void hold(const Job& job, std::span<const Placement> places);
  // Takes just these if there is room on each device. False, and nothing taken, if not.
  [[nodiscard]] bool hold_if_free(const Job& job, std::span<const Placement> places);

  // Places up to `tasks` workers of the job on as few servers as possible: on the server that holds
  // them with the least to spare, else on the largest first. Devices that are used most come first;
  // after spread(true) those that are used least, of the server that is.
  // Servers without cores and main memory for a task are the last resort, and for tasks that take a
  // share no resort unless nothing runs there. Appends to `places`; returns how many were placed.
  std::uint32_t take(const Job& job, std::uint32_t tasks, std::vector<Placement>& places);
  // All of them or none.
  [[nodiscard]] bool take_all(const Job& job, std::uint32_t tasks, std::vector<Placement>& places);

  // Room is plentiful: tasks rather keep out of each other's way than leave whole devices free.
  void spread(bool spreads) { spreads_ = spreads; }

  // Thousandths of GPUs free in all.
  [[nodiscard]] std::int64_t free_milli() const { return free_milli_; }

 private:
  struct DeviceRoom {
    std::int32_t milli = 0;  // 0 where nothing can run
    std::int64_t mib = 0;
  };
  struct ServerRoom {
    std::uint32_t first_device = 0;
    std::uint32_t gpus = 0;
    GpuTypeMask type = 0;
    std::int32_t milli = 0;  // free on its devices
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
  };
  struct Choice {
    std::uint32_t server = 0;
    std::uint32_t tasks = 0;
  };

  void charge(const Job& job, const Placement& place, std::int32_t sign);
  [[nodiscard]] std::int32_t most_milli_of(const ServerRoom& server) const;
  [[nodiscard]] std::uint32_t tasks_on(const Job& job, const ServerRoom& server) const;
  [[nodiscard]] std::uint32_t with_host(const Job& job, std::uint32_t server,
                                        std::uint32_t tasks) const;
  [[nodiscard]] bool goes_before(const Choice& a, const Choice& b, std::uint32_t left) const;
  void list_choices(const Job& job, std::uint32_t tasks);
  std::uint32_t fill(const Job& job, std::uint32_t tasks, std::vector<Placement>& places);
  void fill_server(const Job& job, std::uint32_t server, std::uint32_t tasks,
                   std::vector<Placement>& places);

  const Cluster* cluster_ = nullptr;
  std::vector<DeviceRoom> devices_;
  std::vector<ServerRoom> servers_;
  // By server: free on its freest device. Most servers of a busy cluster are passed over by this.
  std::vector<std::int32_t> most_milli_;
  std::int64_t free_milli_ = 0;
  bool spreads_ = false;
  std::vector<std::uint32_t> with_room_;  // scratch: servers
  std::vector<Choice> choices_;           // scratch
  std::uint32_t in_all_ = 0;              // tasks that the choices hold
};

}  // namespace berth
