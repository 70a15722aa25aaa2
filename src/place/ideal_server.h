// Placement by an ideal virtual server (MLFS, placement of tasks; after RIAL): of the servers that
// have room for a task, the one nearest to a server with the least use of each resource among them,
// the most traffic with tasks of its job that are there, and no movement; there on the least loaded
// device.
//
// - Room: a server is full where a resource would be used beyond `most_use` (h_r) by what is
//   declared, a device likewise where tasks share devices. A task that asks for more than that of
//   a device has an empty one for itself; tasks that ask for more of a server's cores or memory
//   have an empty server where no other would do. A job for which the cluster is too small under
//   these rules, but not without them, is placed as FreeIndex likes: it would never run else.
// - Distance: Euclidean over GPU, cores and memory (as parts of what the server has), traffic (as a
//   part of the most that a candidate has) and movement (1 where the task was elsewhere before),
//   the last two by their weights. So all dimensions are between 0 and 1. Ties: the first server.
// - Traffic of links is no resource here: jobs declare none, and what tasks send depends on where
//   the others are; the traffic dimension stands for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "place/free_index.h"
#include "place/placer.h"
#include "place/task_traffic.h"

namespace berth {

struct IdealServerRules {
  double most_use = 0.9;  // h_r
  double traffic_weight = 1.0;
  double movement_weight = 0.3;
};

// Finds places one task after another, all of one job.
class IdealServer {
 public:
  IdealServer(FreeIndex& free, const IdealServerRules& rules);

  // Whether so many tasks of the job find room, on empty servers without regard to cores and
  // memory where that is needed.
  [[nodiscard]] bool has_room(const Cluster& cluster, const Job& job, std::int64_t tasks) const;
  // Reads which servers have room for tasks of the job, as has_room() counts it.
  void list(const Cluster& cluster, const Job& job, std::int64_t tasks);
  // Servers that are no candidates from now on, beyond those without room.
  void bar(ServerId server);

  // What the next task exchanges with tasks on a server.
  void clear_traffic();
  void add_traffic(ServerId server, std::int64_t bytes);
  // The place of the next task, which is not taken; invalid if there is none. `before`: where it
  // was, for the movement; invalid: nowhere.
  [[nodiscard]] Placement choose(const Job& job, ServerId before);
  [[nodiscard]] DeviceDemand device_demand(const Job& job) const {
    return {.milli = job.gpu_milli_per_task,
            .mib = job.gpu_memory_mib_per_task,
            .kept_milli = kept_milli_,
            .alone = job.gpu_milli_per_task > kWholeGpuMilli - kept_milli_};
  }
  // Whether a device has room for a task of the job.
  [[nodiscard]] bool fits_on(const Job& job, DeviceId device) const {
    return tasks_on(device_demand(job), device) > 0;
  }
  // Takes a place that was chosen.
  void take(const Job& job, const Placement& place);
  // The server for a task without a GPU, as a parameter server is: the nearest with cores and
  // memory for it, else an empty one. If there is none: any (`anywhere`: they are promised to
  // nobody), or none. No server is listed afterwards.
  [[nodiscard]] ServerId choose_without_gpu(const Cluster& cluster, const Job& job, ServerId before,
                                            bool anywhere);

 private:
  static constexpr std::size_t kResources = 3;
  struct Candidate {
    std::uint32_t server = 0;
    std::int64_t room = 0;  // tasks
    std::array<double, kResources> use{};
  };
  // Of a server, in tasks.
  struct Room {
    std::uint32_t server = 0;
    bool empty = false;
    std::int64_t by_devices = 0;
    std::int64_t by_host = 0;  // cores and memory

    [[nodiscard]] std::int64_t in_all() const { return std::min(by_devices, by_host); }
    [[nodiscard]] std::int64_t with_empty() const { return empty ? by_devices : in_all(); }
  };

  [[nodiscard]] std::int64_t tasks_on(const DeviceDemand& demand, DeviceId device) const {
    return demand.tasks_on(free_.free_milli_of(device), free_.free_mib_of(device));
  }
  [[nodiscard]] std::int64_t tasks_by_host(const Job& job, const Server& spec, ServerId at) const;
  // Fills rooms_, in no particular order; stops as soon as there is room for so many tasks. Whether
  // there is, first without empty servers that lack cores or memory, then with them.
  struct Enough {
    bool in_all = false;
    bool with_empty = false;
  };
  Enough find_rooms(const Cluster& cluster, const Job& job, std::int64_t enough) const;
  [[nodiscard]] std::array<double, kResources> use(const Server& spec, ServerId server) const;
  [[nodiscard]] std::size_t nearest(ServerId before) const;
  [[nodiscard]] DeviceId least_loaded(const Job& job, ServerId server) const;

  FreeIndex& free_;
  IdealServerRules rules_;
  std::uint32_t kept_milli_;  // of a device
  double kept_part_;          // of a server
  const Cluster* cluster_ = nullptr;
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> candidate_of_;  // by ServerId: index + 1; 0: none
  mutable std::vector<Room> rooms_;
  mutable std::vector<std::uint32_t> room_of_;  // scratch, by ServerId: index + 1; 0: none
  std::vector<double> traffic_;                 // by ServerId
  std::vector<ServerId> with_traffic_;
};

// Places whole jobs so, their tasks in the order of their graph, replica by replica.
class IdealServerPlacer final : public Placer {
 public:
  IdealServerPlacer(FreeIndex& free, const IdealServerRules& rules)
      : free_(free), rules_(rules), servers_(free, rules) {}

  // A new round; the view must outlive it.
  void begin(const ClusterView& view) { view_ = &view; }

  [[nodiscard]] std::int64_t held_milli(const Job& job) const override { return job.gpu_milli(); }
  [[nodiscard]] std::int64_t asked_milli(const Job& job) const override { return job.gpu_milli(); }
  [[nodiscard]] std::int64_t free_milli(GpuTypeMask types) const override {
    return free_.free_milli(types);
  }
  [[nodiscard]] bool fits_by_demand(const Job& job) const override { return !beyond_rules(job); }
  [[nodiscard]] DeviceDemand device_demand(const Job& job) const override {
    return servers_.device_demand(job);
  }
  [[nodiscard]] bool fits(const Job& job) const override;
  [[nodiscard]] bool take(JobId id, const Job& job, std::vector<Placement>& places) override;
  // The same for a job that runs, on servers where no task of it is.
  [[nodiscard]] bool take_elsewhere(JobId id, std::vector<Placement>& places);

 private:
  // On the servers that are listed.
  [[nodiscard]] bool take_listed(const Job& job, std::span<const Placement> before,
                                 std::vector<Placement>& places);
  // Whether the job is placed by other rules: one without GPUs, or one too large for these.
  [[nodiscard]] bool beyond_rules(const Job& job) const;

  FreeIndex& free_;
  IdealServerRules rules_;
  IdealServer servers_;
  TaskTraffic traffic_;
  const ClusterView* view_ = nullptr;
};

}  // namespace berth
