#include "controller/occupancy.h"

namespace berth {

Occupancy::Occupancy(const Slots& slots, const Cluster& physical)
    : slots_(slots),
      used_milli_(slots.cluster().devices.size(), 0),
      used_mib_(physical.servers.size(), 0) {
  for (const Server& server : physical.servers) {
    const std::int64_t mib = server.capacity[Resource::kMemoryMib];
    memory_mib_.push_back(mib > 0 ? mib : kUnlimitedMib);
  }
}

void Occupancy::add(const Job& job, std::span<const TaskPlace> places, std::int64_t sign) {
  for (const TaskPlace& place : places) {
    used_mib_[slots_.physical(place.to.server).index()] += sign * job.memory_mib_per_task;
    if (place.to.device.valid()) {
      used_milli_[place.to.device.index()] += sign * job.gpu_milli_per_task;
    }
  }
}

// Tentatively taken, looked at, given back: several tasks may share a device.
bool Occupancy::has_room(const Job& job, std::span<const TaskPlace> places) {
  add(job, places, 1);
  bool room = true;
  for (const TaskPlace& place : places) {
    const std::size_t server = slots_.physical(place.to.server).index();
    // Where nothing is stated nothing is waited for.
    if (job.memory_mib_per_task > 0 && used_mib_[server] > memory_mib_[server]) room = false;
    if (place.to.device.valid() && used_milli_[place.to.device.index()] > kWholeGpuMilli) {
      room = false;
    }
  }
  add(job, places, -1);
  return room;
}

}  // namespace berth
