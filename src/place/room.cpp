#include "place/room.h"

#include <algorithm>
#include <utility>

namespace berth {

void Room::read(const ClusterView& view) {
  cluster_ = view.cluster;
  const std::vector<Server>& servers = cluster_->servers;
  devices_.resize(cluster_->devices.size());
  servers_.resize(servers.size());
  most_milli_.resize(servers.size());
  with_room_.resize(servers.size());
  free_milli_ = 0;
  for (std::uint32_t s = 0; s < servers.size(); ++s) {
    const ServerState& state = view.servers[s];
    ServerRoom& room = servers_[s];
    room = {.first_device = servers[s].first_device.value,
            .gpus = servers[s].gpus,
            .type = GpuTypeMask{1} << servers[s].gpu_type.value,
            .cpu_milli = servers[s].capacity[Resource::kCpuMilli] > 0
                             ? state.free[Resource::kCpuMilli]
                             : kUnlimitedMib,
            .memory_mib = servers[s].capacity[Resource::kMemoryMib] > 0
                              ? state.free[Resource::kMemoryMib]
                              : kUnlimitedMib};
    for (std::uint32_t d = room.first_device; d < room.first_device + room.gpus; ++d) {
      const DeviceState& device = view.devices[d];
      const bool up = state.up && device.up;
      devices_[d] = {.milli = up ? static_cast<std::int32_t>(device.free_milli) : 0,
                     .mib = device.free_memory_mib};
      room.milli += devices_[d].milli;
    }
    free_milli_ += room.milli;
    most_milli_[s] = most_milli_of(room);
  }
}

std::int32_t Room::most_milli_of(const ServerRoom& server) const {
  std::int32_t most = 0;
  for (std::uint32_t d = server.first_device; d < server.first_device + server.gpus; ++d) {
    most = std::max(most, devices_[d].milli);
  }
  return most;
}

void Room::charge(const Job& job, const Placement& place, std::int32_t sign) {
  if (!place.device.valid()) return;
  const std::int32_t milli = sign * static_cast<std::int32_t>(job.gpu_milli_per_task);
  devices_[place.device.index()].milli -= milli;
  devices_[place.device.index()].mib -= std::int64_t{sign} * job.gpu_memory_mib_per_task;
  ServerRoom& server = servers_[place.server.index()];
  server.milli -= milli;
  server.cpu_milli -= std::int64_t{sign} * job.cpu_milli_per_task;
  server.memory_mib -= std::int64_t{sign} * job.memory_mib_per_task;
  free_milli_ -= milli;
  const std::int32_t left = devices_[place.device.index()].milli;
  std::int32_t& most = most_milli_[place.server.index()];
  most = left >= most ? left : left + milli < most ? most : most_milli_of(server);
}

void Room::give_back(const Job& job, std::span<const Placement> places) {
  for (const Placement& place : places) charge(job, place, -1);
}

void Room::hold(const Job& job, std::span<const Placement> places) {
  for (const Placement& place : places) charge(job, place, 1);
}

bool Room::hold_if_free(const Job& job, std::span<const Placement> places) {
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (!places[k].device.valid()) continue;
    const DeviceRoom& device = devices_[places[k].device.index()];
    if (device.milli < static_cast<std::int32_t>(job.gpu_milli_per_task) ||
        device.mib < job.gpu_memory_mib_per_task) {
      give_back(job, places.first(k));
      return false;
    }
    charge(job, places[k], 1);
  }
  return true;
}

// By its devices alone.
std::uint32_t Room::tasks_on(const Job& job, const ServerRoom& server) const {
  const auto milli = static_cast<std::int32_t>(job.gpu_milli_per_task);
  const std::int64_t mib = job.gpu_memory_mib_per_task;
  std::uint32_t tasks = 0;
  for (std::uint32_t d = server.first_device; d < server.first_device + server.gpus; ++d) {
    std::int32_t left_milli = devices_[d].milli;
    std::int64_t left_mib = devices_[d].mib;
    while (left_milli >= milli && left_mib >= mib) {
      ++tasks;
      left_milli -= milli;
      left_mib -= mib;
    }
  }
  return tasks;
}

std::uint32_t Room::with_host(const Job& job, std::uint32_t server, std::uint32_t tasks) const {
  const ServerRoom& room = servers_[server];
  const std::int64_t wanted = tasks;
  if (wanted * job.cpu_milli_per_task <= room.cpu_milli &&
      wanted * job.memory_mib_per_task <= room.memory_mib) {
    return tasks;
  }
  return static_cast<std::uint32_t>(
      std::min(wanted, tasks_by_host(job, room.cpu_milli, room.memory_mib)));
}

// Fills choices_ and in_all_: with cores and memory if that is enough for all.
void Room::list_choices(const Job& job, std::uint32_t tasks) {
  choices_.clear();
  in_all_ = 0;
  const GpuTypeMask types = usable_types(*cluster_, job);
  const auto milli = static_cast<std::int32_t>(job.gpu_milli_per_task);
  // Without a branch: which of many servers have room is beyond prediction.
  const auto count = static_cast<std::uint32_t>(servers_.size());
  std::uint32_t* next = with_room_.data();
  for (std::uint32_t s = 0; s < count; ++s) {
    *next = s;
    next += most_milli_[s] >= milli ? 1 : 0;
  }
  for (const std::uint32_t s : std::span(with_room_.data(), next)) {
    if ((types & servers_[s].type) == 0) continue;
    const std::uint32_t here = tasks_on(job, servers_[s]);
    if (here == 0) continue;
    choices_.push_back({s, here});
    in_all_ += with_host(job, s, here);
  }
  const bool heeds_host = in_all_ >= tasks;
  in_all_ = 0;
  for (Choice& choice : choices_) {
    const ServerRoom& server = servers_[choice.server];
    const bool empty = server.milli == static_cast<std::int32_t>(server.gpus) * kWholeGpuMilli;
    const bool last_resort = job.gpu_milli_per_task == kWholeGpuMilli || empty;
    if (heeds_host || !last_resort) {
      choice.tasks = with_host(job, choice.server, choice.tasks);
    }
    in_all_ += choice.tasks;
  }
}

void Room::fill_server(const Job& job, std::uint32_t server, std::uint32_t tasks,
                       std::vector<Placement>& places) {
  const ServerRoom& room = servers_[server];
  const auto milli = static_cast<std::int32_t>(job.gpu_milli_per_task);
  for (; tasks > 0; --tasks) {
    std::uint32_t best = DeviceId::kNone;
    for (std::uint32_t d = room.first_device; d < room.first_device + room.gpus; ++d) {
      if (devices_[d].milli < milli || devices_[d].mib < job.gpu_memory_mib_per_task) continue;
      const bool better =
          best == DeviceId::kNone || (spreads_ ? devices_[d].milli > devices_[best].milli
                                               : devices_[d].milli < devices_[best].milli);
      if (better) best = d;
    }
    const Placement place{ServerId{server}, DeviceId{best}};
    charge(job, place, 1);
    places.push_back(place);
  }
}

// Of two servers with room, where so many tasks are left.
bool Room::goes_before(const Choice& a, const Choice& b, std::uint32_t left) const {
  const bool a_holds_all = a.tasks >= left;
  if (a_holds_all != (b.tasks >= left)) return a_holds_all;
  const std::int32_t a_milli = servers_[a.server].milli;
  const std::int32_t b_milli = servers_[b.server].milli;
  if (a_holds_all && spreads_) return a_milli > b_milli;
  if (a.tasks != b.tasks) return a_holds_all ? a.tasks < b.tasks : a.tasks > b.tasks;
  return spreads_ ? a_milli > b_milli : a_milli < b_milli;
}

// Server by server, so that a gang stays together.
std::uint32_t Room::fill(const Job& job, std::uint32_t tasks, std::vector<Placement>& places) {
  std::uint32_t left = tasks;
  while (left > 0) {
    Choice* best = nullptr;
    for (Choice& choice : choices_) {
      if (choice.tasks == 0) continue;
      if (best == nullptr || goes_before(choice, *best, left)) best = &choice;
    }
    if (best == nullptr) break;
    const std::uint32_t here = std::min(left, std::exchange(best->tasks, 0));
    fill_server(job, best->server, here, places);
    left -= here;
  }
  return tasks - left;
}

std::uint32_t Room::take(const Job& job, std::uint32_t tasks, std::vector<Placement>& places) {
  if (free_milli_ < static_cast<std::int64_t>(job.gpu_milli_per_task)) return 0;
  list_choices(job, tasks);
  return fill(job, tasks, places);
}

bool Room::take_all(const Job& job, std::uint32_t tasks, std::vector<Placement>& places) {
  if (free_milli_ < std::int64_t{tasks} * job.gpu_milli_per_task) return false;
  list_choices(job, tasks);
  return in_all_ >= tasks && fill(job, tasks, places) == tasks;
}

}  // namespace berth
