#include "place/free_index.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

}  // namespace

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
  server_free_cpu_milli_.assign(cluster_->servers.size(), 0);
  server_free_memory_mib_.assign(cluster_->servers.size(), 0);
  room_of_server_.assign(cluster_->servers.size(), 0);
  synced_at_.assign(cluster_->servers.size(), kNeverSynced);
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
    type.partial.erase(now, device);
    type.partial_free_milli -= now;
  }
  now = free_milli;
  if (now == kWholeGpuMilli) {
    ++type.whole_free;
    ++server_whole_free_[where.server.index()];
  } else if (now > 0) {
    type.partial.insert({now, device, 0});
    type.partial_free_milli += now;
  }
}

void FreeIndex::sync_server(const ClusterView& view, ServerId server) {
  // A plan takes from a server that then changes, too: once is enough.
  if (std::exchange(synced_at_[server.index()], view.version) == view.version) return;
  const Server& spec = cluster_->servers[server.index()];
  const ServerState& state = view.servers[server.index()];
  if (state.up) {
    up_servers_.insert(server.value);
  } else {
    up_servers_.erase(server.value);
  }
  server_free_cpu_milli_[server.index()] = state.free[Resource::kCpuMilli];
  server_free_memory_mib_[server.index()] = state.free[Resource::kMemoryMib];
  PerType& type = types_[spec.gpu_type.index()];
  const std::uint32_t whole_free = server_whole_free_[server.index()];
  for (std::uint32_t i = 0; i < spec.gpus; ++i) {
    const std::uint32_t id = spec.first_device.value + i;
    const DeviceState& device = view.devices[id];
    device_free_mib_[id] = device.free_memory_mib;
    const bool up = state.up && device.up;
    if (up != (device_up_[id] != 0)) {
      type.up_devices += up ? 1 : -1;
      device_up_[id] = up ? 1 : 0;
    }
    const std::uint32_t free_milli = up ? device.free_milli : 0;
    if (device_free_milli_[id] != free_milli) set_device(id, free_milli);
  }
  if (server_whole_free_[server.index()] == whole_free) return;
  type.servers_by_free[whole_free].erase(server.value);
  file_server(server.value);
}

void FreeIndex::undo_tentative(const ClusterView& view) {
  for (const ServerId server : touched_) sync_server(view, server);
  touched_.clear();
}

void FreeIndex::touch(ServerId server) {
  synced_at_[server.index()] = kNeverSynced;
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
  const GpuTypeMask types = usable_types(*cluster_, job);
  if (job.gpu_milli_per_task < kWholeGpuMilli) {
    return may_fit_shares(job, types) && list_rooms(job, types, job.workers());
  }
  std::int64_t devices = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) != 0) devices += types_[t].whole_free;
  }
  return devices >= job.workers();
}

// Whether a count of what is free allows it: most of what does not fit is refused here.
bool FreeIndex::may_fit_shares(const Job& job, GpuTypeMask types) const {
  std::int64_t milli = 0;
  bool any_device = false;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) == 0) continue;
    const PerType& type = types_[t];
    milli += type.whole_free * kWholeGpuMilli + type.partial_free_milli;
    any_device = any_device || type.whole_free > 0 ||
                 (!type.partial.empty() && type.partial.back()->key >= job.gpu_milli_per_task);
  }
  return any_device && milli >= job.gpu_milli();
}

std::int64_t FreeIndex::tasks_by_host(const Job& job, std::uint32_t server) const {
  const ResourceVector& capacity = cluster_->servers[server].capacity;
  return berth::tasks_by_host(
      job, capacity[Resource::kCpuMilli] > 0 ? server_free_cpu_milli_[server] : kUnlimitedMib,
      capacity[Resource::kMemoryMib] > 0 ? server_free_memory_mib_[server] : kUnlimitedMib);
}

// Fills rooms_. Whether they hold so many tasks, servers without cores or memory for them counted
// only where nothing runs; may stop as soon as it is clear that they do.
bool FreeIndex::list_rooms(const Job& job, GpuTypeMask types, std::int64_t enough) const {
  for (const Room& room : rooms_) room_of_server_[room.server] = 0;
  rooms_.clear();
  const bool all = enough == kNoLimit;
  std::int64_t tasks = 0;
  const auto add = [&](std::uint32_t server, std::int64_t more) {
    if (more == 0) return;
    std::uint32_t& index = room_of_server_[server];
    if (index == 0) {
      rooms_.push_back({.server = server});
      index = static_cast<std::uint32_t>(rooms_.size());
    }
    Room& room = rooms_[index - 1];
    const auto counted = [&] { return is_empty(server) ? room.by_devices : room.in_all; };
    tasks -= counted();
    room.by_devices += more;
    room.in_all = std::min(room.by_devices, tasks_by_host(job, server));
    tasks += counted();
  };
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) == 0) continue;
    const std::int64_t whole = tasks_in(job, cluster_->gpu_types[t]);
    for (std::uint32_t free = max_gpus_; free > 0; --free) {
      const IdSet& servers = types_[t].servers_by_free[free];
      for (std::uint32_t s = servers.first(); s != IdSet::kNone && (all || tasks < enough);
           s = servers.at_or_after(s + 1)) {
        add(s, whole * free);
      }
    }
    types_[t].partial.for_each_from(job.gpu_milli_per_task, 0,
                                    [&](const OrderedBlocks::Entry& entry) {
                                      if (!all && tasks >= enough) return false;
                                      add(cluster_->devices[entry.id].server.value,
                                          tasks_in(job, entry.key, device_free_mib_[entry.id]));
                                      return true;
                                    });
  }
  return all || tasks >= enough;
}

// The first of these servers that has cores and memory for so many tasks; kNone if none has.
std::uint32_t FreeIndex::first_with_host(const Job& job, const IdSet& servers,
                                         std::int64_t tasks) const {
  std::uint32_t s = servers.first();
  while (s != IdSet::kNone && tasks_by_host(job, s) < tasks) s = servers.at_or_after(s + 1);
  return s;
}

// The first of the servers with fewest whole free devices that are enough for `tasks`, with cores
// and memory for them, if that is asked.
ServerId FreeIndex::tightest_server(const Job& job, std::uint32_t tasks, GpuTypeMask types,
                                    bool with_host) const {
  for (std::uint32_t free = tasks; free <= max_gpus_; ++free) {
    std::uint32_t best = IdSet::kNone;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) == 0) continue;
      best = std::min(best,
                      first_with_host(job, types_[t].servers_by_free[free], with_host ? tasks : 0));
    }
    if (best != IdSet::kNone) return ServerId{best};
  }
  return {};
}

// The first of the servers with most whole free devices, with cores and memory for a task at least,
// if that is asked.
ServerId FreeIndex::emptiest_server(const Job& job, GpuTypeMask types, bool with_host) const {
  for (std::uint32_t free = max_gpus_; free > 0; --free) {
    std::uint32_t best = IdSet::kNone;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) == 0) continue;
      best =
          std::min(best, first_with_host(job, types_[t].servers_by_free[free], with_host ? 1 : 0));
    }
    if (best != IdSet::kNone) return ServerId{best};
  }
  return {};
}

void FreeIndex::take_whole(const Job& job, ServerId server, std::uint32_t count,
                           std::vector<Placement>& places) {
  touch(server);
  unfile_server(server.value);
  for (std::uint32_t device = cluster_->servers[server.index()].first_device.value; count > 0;
       ++device) {
    if (device_free_milli_[device] != kWholeGpuMilli) continue;
    set_device(device, 0);
    device_free_mib_[device] -= job.gpu_memory_mib_per_task;
    places.push_back({server, DeviceId{device}});
    --count;
  }
  file_server(server.value);
}

// The device with the least room for one more task of the job, on a server with cores and memory
// for it; kNone if there is none in use.
std::uint32_t FreeIndex::fullest_device_with_room(const Job& job, GpuTypeMask types) const {
  std::uint32_t best = DeviceId::kNone;
  std::int64_t least = kWholeGpuMilli + 1;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if ((types >> t & 1U) == 0) continue;
    types_[t].partial.for_each_from(
        job.gpu_milli_per_task, 0, [&](const OrderedBlocks::Entry& entry) {
          if (entry.key > least) return false;
          if (tasks_in(job, entry.key, device_free_mib_[entry.id]) == 0 ||
              tasks_by_host(job, cluster_->devices[entry.id].server.value) == 0) {
            return true;
          }
          if (entry.key < least || entry.id < best) {
            least = entry.key;
            best = entry.id;
          }
          return false;
        });
  }
  return best;
}

// A device of the fullest server with one that is wholly free, and with cores and memory; else of
// one where nothing runs; else kNone.
std::uint32_t FreeIndex::whole_device_with_room(const Job& job, GpuTypeMask types) const {
  std::uint32_t server = IdSet::kNone;
  std::uint32_t empty = IdSet::kNone;
  for (std::uint32_t free = 1; free <= max_gpus_ && server == IdSet::kNone; ++free) {
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if ((types >> t & 1U) == 0) continue;
      const IdSet& servers = types_[t].servers_by_free[free];
      std::uint32_t s = servers.first();
      for (; s != IdSet::kNone && tasks_by_host(job, s) == 0; s = servers.at_or_after(s + 1)) {
        if (is_empty(s)) empty = std::min(empty, s);
      }
      server = std::min(server, s);
    }
  }
  if (server == IdSet::kNone) server = empty;
  if (server == IdSet::kNone) return DeviceId::kNone;
  std::uint32_t device = cluster_->servers[server].first_device.value;
  while (device_free_milli_[device] != kWholeGpuMilli) ++device;
  return device;
}

void FreeIndex::take_place(const Job& job, std::uint32_t device) {
  const Placement place{cluster_->devices[device].server, DeviceId{device}};
  add_to_places(job, std::span(&place, 1), -1);
}

bool FreeIndex::take_share(const Job& job, std::vector<Placement>& places) {
  const GpuTypeMask types = usable_types(*cluster_, job);
  std::uint32_t device = fullest_device_with_room(job, types);
  if (device == DeviceId::kNone) device = whole_device_with_room(job, types);
  if (device == DeviceId::kNone) return false;
  take_place(job, device);
  places.push_back({cluster_->devices[device].server, DeviceId{device}});
  return true;
}

// The room that holds all that is left with the least to spare, else the largest; the first of
// equals. The end if none holds anything.
std::size_t FreeIndex::best_room(std::int64_t left, bool by_devices) const {
  std::size_t best = rooms_.size();
  std::int64_t best_tasks = 0;
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    const std::int64_t tasks =
        by_devices && is_empty(rooms_[i].server) ? rooms_[i].by_devices : rooms_[i].in_all;
    if (tasks == 0) continue;
    const bool better =
        best_tasks < left ? tasks > best_tasks : tasks >= left && tasks < best_tasks;
    if (better || (tasks == best_tasks && rooms_[i].server < rooms_[best].server)) {
      best = i;
      best_tasks = tasks;
    }
  }
  return best;
}

// The fullest of its devices first.
void FreeIndex::fill_server(const Job& job, std::uint32_t server, std::int64_t tasks,
                            std::vector<Placement>& places) {
  const Server& spec = cluster_->servers[server];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> devices;  // free_milli, device
  for (std::uint32_t d = spec.first_device.value; d < spec.first_device.value + spec.gpus; ++d) {
    devices.emplace_back(device_free_milli_[d], d);
  }
  std::sort(devices.begin(), devices.end());
  for (const auto& [free_milli, device] : devices) {
    for (; tasks > 0 && tasks_in(job, device_free_milli_[device], device_free_mib_[device]) > 0;
         --tasks) {
      take_place(job, device);
      places.push_back({ServerId{server}, DeviceId{device}});
    }
  }
}

// Server by server, so that a gang stays together.
bool FreeIndex::take_shares(const Job& job, std::vector<Placement>& places) {
  (void)list_rooms(job, usable_types(*cluster_, job), kNoLimit);
  std::int64_t with_host = 0;
  for (const Room& room : rooms_) with_host += room.in_all;
  const bool by_devices = with_host < job.workers();
  std::int64_t left = job.workers();
  while (left > 0) {
    const std::size_t best = best_room(left, by_devices);
    if (best == rooms_.size()) break;
    Room& room = rooms_[best];
    const std::int64_t tasks =
        std::min(left, by_devices && is_empty(room.server) ? room.by_devices : room.in_all);
    left -= tasks;
    room.by_devices = room.in_all = 0;
    fill_server(job, room.server, tasks, places);
  }
  if (left == 0) return true;
  give_back(job, places);
  return false;
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
    if (!(left == 1 ? take_share(job, places) : take_shares(job, places))) return false;
    left = 0;
  }
  const GpuTypeMask types = usable_types(*cluster_, job);
  while (left > 0) take_on_next_server(job, types, left, places);
  if (job.parameter_servers > 0) places.push_back({places.front().server, {}});
  return true;
}

// Cores and memory are a wish where devices are whole: they are promised to nobody, so no job waits
// for them.
void FreeIndex::take_on_next_server(const Job& job, GpuTypeMask types, std::uint32_t& left,
                                    std::vector<Placement>& places) {
  ServerId server;
  std::int64_t most = left;
  for (const bool with_host : {true, false}) {
    if (left <= max_gpus_) server = tightest_server(job, left, types, with_host);
    if (!server.valid()) server = emptiest_server(job, types, with_host);
    if (!server.valid()) continue;
    if (with_host) most = std::min(most, tasks_by_host(job, server.value));
    break;
  }
  const auto count =
      static_cast<std::uint32_t>(std::min<std::int64_t>(most, server_whole_free_[server.index()]));
  take_whole(job, server, count, places);
  charge_host(job, server, count);
  left -= count;
}

// What a task takes beside its device.
void FreeIndex::charge_host(const Job& job, ServerId server, std::int64_t tasks) {
  server_free_cpu_milli_[server.index()] -= tasks * job.cpu_milli_per_task;
  server_free_memory_mib_[server.index()] -= tasks * job.memory_mib_per_task;
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
    charge_host(job, place.server, -sign);
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
