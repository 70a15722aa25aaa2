// Where there is room: free devices by GPU type and by how many a server has, kept in step with
// views, and taken from tentatively while a plan is made.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/id_set.h"
#include "base/ordered_blocks.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/view.h"

namespace berth {

class FreeIndex {
 public:
  // Reads the whole view.
  void rebuild(const ClusterView& view);
  // Reads one server again. Idempotent: the view's state counts, not what was taken here.
  void sync_server(const ClusterView& view, ServerId server);
  // Reads again every server from which something was taken since the last call: what a plan took
  // tentatively may have been refused.
  void undo_tentative(const ClusterView& view);

  // Whole free devices of these types, in thousandths of a GPU; shared devices do not count.
  [[nodiscard]] std::int64_t whole_free_milli(GpuTypeMask types) const;
  // Whole free devices and what is left of shared ones.
  [[nodiscard]] std::int64_t free_milli(GpuTypeMask types) const;
  // All devices of these types on servers that are up, used or not.
  [[nodiscard]] std::int64_t capacity_milli(GpuTypeMask types) const;
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  // What is free on one device, and how many devices of a server are free whole; 0 where nothing
  // can run.
  [[nodiscard]] std::uint32_t free_milli_of(DeviceId device) const {
    return device_free_milli_[device.index()];
  }
  [[nodiscard]] std::int64_t free_mib_of(DeviceId device) const {
    return device_free_mib_[device.index()];
  }
  [[nodiscard]] std::uint32_t whole_free_of(ServerId server) const {
    return server_whole_free_[server.index()];
  }
  // What is free of a server's cores and main memory; less than 0 if more is promised than it has.
  [[nodiscard]] std::int64_t free_cpu_milli_of(ServerId server) const {
    return server_free_cpu_milli_[server.index()];
  }
  [[nodiscard]] std::int64_t free_memory_mib_of(ServerId server) const {
    return server_free_memory_mib_[server.index()];
  }
  [[nodiscard]] bool is_up(ServerId server) const { return up_servers_.contains(server.value); }
  // Visits devices of these types with so much free, at least 1, until the visit says false.
  template <class Visit>
  void for_each_device(GpuTypeMask types, std::uint32_t least_milli, Visit visit) const {
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) == 0) continue;
      for (std::uint32_t free = max_gpus_; free > 0; --free) {
        const IdSet& servers = types_[t].servers_by_free[free];
        for (std::uint32_t s = servers.first(); s != IdSet::kNone; s = servers.at_or_after(s + 1)) {
          const std::uint32_t first = cluster_->servers[s].first_device.value;
          for (std::uint32_t d = first; d < first + cluster_->servers[s].gpus; ++d) {
            if (device_free_milli_[d] == kWholeGpuMilli && !visit(DeviceId{d})) return;
          }
        }
      }
      bool goes_on = true;
      types_[t].partial.for_each_from(least_milli, 0, [&](const OrderedBlocks::Entry& entry) {
        return goes_on = visit(DeviceId{entry.id});
      });
      if (!goes_on) return;
    }
  }
  // Whether all tasks of the job fit now.
  [[nodiscard]] bool fits(const Job& job) const;

  // Tasks for which the server has cores and main memory, of those that it states.
  [[nodiscard]] std::int64_t tasks_by_host(const Job& job, std::uint32_t server) const;
  // Places all tasks of the job, on as few servers as possible: the fullest server that holds them
  // all, else the emptiest servers first; of these rather servers with cores and main memory for
  // them. Tasks with a share go to the fullest devices with room for their share and their memory,
  // and only on servers with cores and main memory for them, or where nothing runs. A parameter
  // server goes to that of the first worker. False, and nothing taken, if they do not fit.
  [[nodiscard]] bool take(const Job& job, std::vector<Placement>& places);
  // Gives back places taken here or seen in the view, so that a plan can use what it preempts.
  void give_back(const Job& job, std::span<const Placement> places);
  // The opposite: takes just these places, which must have room.
  void hold(const Job& job, std::span<const Placement> places);

 private:
  static constexpr Version kNeverSynced = std::numeric_limits<Version>::max();

  struct PerType {
    std::vector<IdSet> servers_by_free;  // [k]: servers with k whole free devices, k >= 1
    std::int64_t whole_free = 0;         // devices
    std::int64_t up_devices = 0;
    std::int64_t partial_free_milli = 0;
    OrderedBlocks partial;  // devices in part free; key: how much
  };

  void file_server(std::uint32_t server);
  void unfile_server(std::uint32_t server);
  void set_device(std::uint32_t device, std::uint32_t free_milli);
  // Room for tasks of a job that takes shares.
  struct Room {
    std::uint32_t server = 0;
    std::int64_t by_devices = 0;  // tasks
    std::int64_t in_all = 0;      // with cores and main memory for them
  };

  void add_to_places(const Job& job, std::span<const Placement> places, int sign);
  void charge_host(const Job& job, ServerId server, std::int64_t tasks);
  void take_place(const Job& job, std::uint32_t device);
  [[nodiscard]] bool is_empty(std::uint32_t server) const {
    return server_whole_free_[server] == cluster_->servers[server].gpus;
  }
  [[nodiscard]] bool may_fit_shares(const Job& job, GpuTypeMask types) const;
  [[nodiscard]] bool list_rooms(const Job& job, GpuTypeMask types, std::int64_t enough) const;
  [[nodiscard]] bool take_shares(const Job& job, std::vector<Placement>& places);
  [[nodiscard]] std::size_t best_room(std::int64_t left, bool by_devices) const;
  void fill_server(const Job& job, std::uint32_t server, std::int64_t tasks,
                   std::vector<Placement>& places);
  void take_whole(const Job& job, ServerId server, std::uint32_t count,
                  std::vector<Placement>& places);
  [[nodiscard]] bool take_share(const Job& job, std::vector<Placement>& places);
  [[nodiscard]] std::uint32_t fullest_device_with_room(const Job& job, GpuTypeMask types) const;
  [[nodiscard]] std::uint32_t whole_device_with_room(const Job& job, GpuTypeMask types) const;
  [[nodiscard]] std::uint32_t first_with_host(const Job& job, const IdSet& servers,
                                              std::int64_t tasks) const;
  [[nodiscard]] ServerId tightest_server(const Job& job, std::uint32_t tasks, GpuTypeMask types,
                                         bool with_host) const;
  [[nodiscard]] ServerId emptiest_server(const Job& job, GpuTypeMask types, bool with_host) const;
  void take_on_next_server(const Job& job, GpuTypeMask types, std::uint32_t& left,
                           std::vector<Placement>& places);
  void touch(ServerId server);

  const Cluster* cluster_ = nullptr;
  std::uint32_t max_gpus_ = 0;
  std::vector<PerType> types_;
  std::vector<std::uint32_t> device_free_milli_;      // by DeviceId; 0 where nothing can run
  std::vector<std::int64_t> device_free_mib_;         // by DeviceId
  std::vector<std::uint8_t> device_up_;               // by DeviceId
  std::vector<std::uint32_t> server_whole_free_;      // by ServerId
  std::vector<std::int64_t> server_free_cpu_milli_;   // by ServerId
  std::vector<std::int64_t> server_free_memory_mib_;  // by ServerId
  std::vector<Version> synced_at_;                    // by ServerId; kNeverSynced: taken from since
  std::vector<ServerId> touched_;
  IdSet up_servers_;  // tasks without a GPU go to the first
  // Scratch.
  mutable std::vector<Room> rooms_;
  mutable std::vector<std::uint32_t> room_of_server_;  // by ServerId: index + 1; 0: none
};

}  // namespace berth
