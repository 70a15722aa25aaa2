#include "place/free_index.h"

#include <algorithm>

namespace berth {

void FreeIndex::rebuild(const ClusterView& view) {
  cluster_ = view.cluster;
  max_gpus_ = 0;
  for (const Server& server : cluster_->servers) max_gpus_ = std::max(max_gpus_, server.gpus);
  types_.assign(cluster_->gpu_types.size(), {});
  for (PerType& type : types_) {
    type.servers_by_free.resize(max_gpus_ + 1);
    for (IdSet& servers : type.servers_by_free) servers.grow(cluster_->servers.size());
  }
  device_free_milli_.assign(cluster_->gpus(), 0);
  device_free_mib_.assign(cluster_->gpus(), 0);
  device_up_.assign(cluster_->gpus(), 0);
  server_whole_free_.assign(cluster_->servers.size(), 0);
  touched_.clear();
  up_servers_.clear();
  up_servers_.grow(cluster_->servers.size());
  for (std::size_t s = 0; s < cluster_->servers.size(); ++s) sync_server(view, ServerId{s});
}

void FreeIndex::unfile_server(std::uint32_t server) {
  PerType& type = types_[cluster_->servers[server].gpu_type.index()];
  type.servers_by_free[server_whole_free_[server]].erase(server);
}

void FreeIndex::file_server(std::uint32_t server) {
  PerType& type = types_[cluster_->servers[server].gpu_type.index()];
  type.servers_by_free[server_whole_free_[server]].insert(server);
}

void FreeIndex::set_device(std::uint32_t device, std::uint32_t free_milli) {
  std::uint32_t& now = device_free_milli_[device];
  if (now == free_milli) return;
  const Device& where = cluster_->devices[device];
  PerType& type = types_[where.type.index()];
  if (now == kWholeGpuMilli) {
    --type.whole_free;
    --server_whole_free_[where.server.index()];
  } else if (now > 0) {
    type.partial.erase({now, device});
    type.partial_free_milli -= now;
  }
  now = free_milli;
  if (now == kWholeGpuMilli) {
    ++type.whole_free;
    ++server_whole_free_[where.server.index()];
  } else if (now > 0) {
    type.partial.insert({now, device});
    type.partial_free_milli += now;
  }
}

void FreeIndex::sync_server(const ClusterView& view, ServerId server) {
  const Server& spec = cluster_->servers[server.index()];
  const bool up = view.servers[server.index()].up;
  if (up) {
    up_servers_.insert(server.value);
  } else {
    up_servers_.erase(server.value);
  }
  unfile_server(server.value);
  for (std::uint32_t i = 0; i < spec.gpus; ++i) {
    const std::uint32_t device = spec.first_device.value + i;
    const DeviceState& state = view.devices[device];
    device_free_mib_[device] = state.free_memory_mib;
    const std::uint8_t device_up = up && state.up ? 1 : 0;
    if (device_up != device_up_[device]) {
      types_[spec.gpu_type.index()].up_devices += device_up - device_up_[device];
      device_up_[device] = device_up;
    }
    set_device(device, device_up != 0 ? state.free_milli : 0);
  }
  file_server(server.value);
}

void FreeIndex::undo_tentative(const ClusterView& view) {
  for (const ServerId server : touched_) sync_server(view, server);
  touched_.clear();
}

void FreeIndex::touch(ServerId server) {
  if (touched_.empty() || touched_.back() != server) touched_.push_back(server);
}

std::int64_t FreeIndex::whole_free_milli(GpuTypeMask types) const {
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) != 0) sum += types_[t].whole_free;
  }
  return sum * kWholeGpuMilli;
}

std::int64_t FreeIndex::free_milli(GpuTypeMask types) const {
  std::int64_t sum = whole_free_milli(types);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) != 0) sum += types_[t].partial_free_milli;
  }
  return sum;
}

std::int64_t FreeIndex::capacity_milli(GpuTypeMask types) const {
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) != 0) sum += types_[t].up_devices;
  }
  return sum * kWholeGpuMilli;
}

bool FreeIndex::fits(const Job& job) const {
  if (job.gpu_milli_per_task == 0) return !up_servers_.empty();
  const GpuTypeMask mask = usable_types(*cluster_, job);
  std::int64_t tasks = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((mask >> t & 1U) == 0) continue;
    tasks += types_[t].whole_free * tasks_in(job, cluster_->gpu_types[t]);
    if (tasks >= job.workers()) return true;
    if (job.gpu_milli_per_task == kWholeGpuMilli) continue;
    auto it = types_[t].partial.lower_bound({job.gpu_milli_per_task, 0});
    for (; it != types_[t].partial.end() && tasks < job.workers(); ++it) {
      tasks += tasks_in(job, it->first, device_free_mib_[it->second]);
    }
  }
  return tasks >= job.workers();
}

ServerId FreeIndex::tightest_server(std::uint32_t gpus, GpuTypeMask types) const {
  for (std::uint32_t free = gpus; free <= max_gpus_; ++free) {
    std::uint32_t best = IdSet::kNone;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) != 0) best = std::min(best, types_[t].servers_by_free[free].first());
    }
    if (best != IdSet::kNone) return ServerId{best};
  }
  return {};
}

ServerId FreeIndex::emptiest_server(GpuTypeMask types) const {
  for (std::uint32_t free = max_gpus_; free > 0; --free) {
    std::uint32_t best = IdSet::kNone;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) != 0) best = std::min(best, types_[t].servers_by_free[free].first());
    }
    if (best != IdSet::kNone) return ServerId{best};
  }
  return {};
}

void FreeIndex::take_whole(ServerId server, std::uint32_t count, std::vector<Placement>& places) {
  touch(server);
  unfile_server(server.value);
  for (std::uint32_t device = cluster_->servers[server.index()].first_device.value; count > 0;
       ++device) {
    if (device_free_milli_[device] != kWholeGpuMilli) continue;
    set_device(device, 0);
    places.push_back({server, DeviceId{device}});
    --count;
  }
  file_server(server.value);
}

// The device with the least room for one more task of the job; kNone if there is none in use.
std::uint32_t FreeIndex::fullest_device_with_room(const Job& job, GpuTypeMask types) const {
  std::uint32_t best = DeviceId::kNone;
  std::uint32_t least = kWholeGpuMilli + 1;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) == 0) continue;
    auto it = types_[t].partial.lower_bound({job.gpu_milli_per_task, 0});
    while (it != types_[t].partial.end() &&
           tasks_in(job, it->first, device_free_mib_[it->second]) == 0) {
      ++it;
    }
    if (it == types_[t].partial.end()) continue;
    if (it->first < least || (it->first == least && it->second < best)) {
      least = it->first;
      best = it->second;
    }
  }
  return best;
}

bool FreeIndex::take_share(const Job& job, std::vector<Placement>& places) {
  const GpuTypeMask types = usable_types(*cluster_, job);
  std::uint32_t device = fullest_device_with_room(job, types);
  if (device == DeviceId::kNone) {
    const ServerId server = tightest_server(1, types);
    if (!server.valid()) return false;
    device = cluster_->servers[server.index()].first_device.value;
    while (device_free_milli_[device] != kWholeGpuMilli) ++device;
  }
  const ServerId server = cluster_->devices[device].server;
  touch(server);
  unfile_server(server.value);
  set_device(device, device_free_milli_[device] - job.gpu_milli_per_task);
  device_free_mib_[device] -= job.gpu_memory_mib_per_task;
  file_server(server.value);
  places.push_back({server, DeviceId{device}});
  return true;
}

bool FreeIndex::take(const Job& job, std::vector<Placement>& places) {
  places.clear();
  if (!fits(job)) return false;
  if (job.gpu_milli_per_task == 0) {
    places.assign(job.tasks, Placement{ServerId{up_servers_.first()}, {}});
    return true;
  }
  std::uint32_t left = job.workers();
  if (job.gpu_milli_per_task < kWholeGpuMilli) {
    for (; left > 0; --left) {
      if (!take_share(job, places)) {
        give_back(job, places);
        return false;
      }
    }
  }
  const GpuTypeMask types = usable_types(*cluster_, job);
  while (left > 0) {
    ServerId server = left <= max_gpus_ ? tightest_server(left, types) : ServerId{};
    if (!server.valid()) server = emptiest_server(types);
    const std::uint32_t count = std::min(left, server_whole_free_[server.index()]);
    take_whole(server, count, places);
    left -= count;
  }
  if (job.parameter_servers > 0) places.push_back({places.front().server, {}});
  return true;
}

void FreeIndex::add_to_places(const Job& job, std::span<const Placement> places, int sign) {
  const std::int64_t milli = static_cast<std::int64_t>(job.gpu_milli_per_task) * sign;
  for (const Placement& place : places) {
    if (!place.device.valid()) continue;
    touch(place.server);
    unfile_server(place.server.value);
    set_device(place.device.value,
               static_cast<std::uint32_t>(device_free_milli_[place.device.index()] + milli));
    device_free_mib_[place.device.index()] +=
        static_cast<std::int64_t>(job.gpu_memory_mib_per_task) * sign;
    file_server(place.server.value);
  }
}

void FreeIndex::give_back(const Job& job, std::span<const Placement> places) {
  add_to_places(job, places, 1);
}

void FreeIndex::hold(const Job& job, std::span<const Placement> places) {
  add_to_places(job, places, -1);
}

}  // namespace berth
