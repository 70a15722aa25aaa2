#include "place/ideal_server.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kAllRooms = std::numeric_limits<std::int64_t>::max();

std::uint32_t milli_of(double part) {
  return static_cast<std::uint32_t>(std::lround(part * static_cast<double>(kWholeGpuMilli)));
}

// Of a resource of which so much is free, without what is kept; all where it is not stated.
std::int64_t left_of(std::int64_t free, std::int64_t capacity, double kept) {
  if (capacity <= 0) return kUnlimitedMib;
  return free - std::llround(kept * static_cast<double>(capacity));
}

double part_used(std::int64_t free, std::int64_t capacity) {
  if (capacity <= 0) return 0.0;
  return static_cast<double>(capacity - free) / static_cast<double>(capacity);
}

double square(double x) {
  return x * x;
}

}  // namespace

IdealServer::IdealServer(FreeIndex& free, const IdealServerRules& rules)
    : free_(free),
      rules_(rules),
      kept_milli_(milli_of(1.0 - rules.most_use)),
      kept_part_(1.0 - rules.most_use) {}

std::int64_t IdealServer::tasks_by_host(const Job& job, const Server& spec, ServerId at) const {
  return berth::tasks_by_host(
      job, left_of(free_.free_cpu_milli_of(at), spec.capacity[Resource::kCpuMilli], kept_part_),
      left_of(free_.free_memory_mib_of(at), spec.capacity[Resource::kMemoryMib], kept_part_));
}

IdealServer::Enough IdealServer::find_rooms(const Cluster& cluster, const Job& job,
                                            std::int64_t enough) const {
  rooms_.clear();
  room_of_.assign(cluster.servers.size(), 0);
  const DeviceDemand demand = device_demand(job);
  const std::uint32_t least_milli =
      demand.alone ? kWholeGpuMilli : demand.milli + demand.kept_milli;
  std::int64_t in_all = 0;
  std::int64_t with_empty = 0;
  free_.for_each_device(usable_types(cluster, job), least_milli, [&](DeviceId device) {
    const std::int64_t tasks = tasks_on(demand, device);
    if (tasks == 0) return true;
    const ServerId server = cluster.devices[device.index()].server;
    std::uint32_t& index = room_of_[server.index()];
    if (index == 0) {
      const Server& spec = cluster.servers[server.index()];
      rooms_.push_back({.server = server.value,
                        .empty = free_.whole_free_of(server) == spec.gpus,
                        .by_host = tasks_by_host(job, spec, server)});
      index = static_cast<std::uint32_t>(rooms_.size());
    }
    Room& room = rooms_[index - 1];
    in_all -= room.in_all();
    with_empty -= room.with_empty();
    room.by_devices += tasks;
    in_all += room.in_all();
    with_empty += room.with_empty();
    return in_all < enough && with_empty < enough;
  });
  return {in_all >= enough, with_empty >= enough};
}

bool IdealServer::has_room(const Cluster& cluster, const Job& job, std::int64_t tasks) const {
  const Enough enough = find_rooms(cluster, job, tasks);
  return enough.in_all || enough.with_empty;
}

std::array<double, IdealServer::kResources> IdealServer::use(const Server& spec,
                                                             ServerId server) const {
  std::int64_t free_milli = 0;
  for (std::uint32_t d = 0; d < spec.gpus; ++d) {
    free_milli += free_.free_milli_of(DeviceId{spec.first_device.value + d});
  }
  return {part_used(free_milli, spec.gpus * kWholeGpuMilli),
          part_used(free_.free_cpu_milli_of(server), spec.capacity[Resource::kCpuMilli]),
          part_used(free_.free_memory_mib_of(server), spec.capacity[Resource::kMemoryMib])};
}

void IdealServer::list(const Cluster& cluster, const Job& job, std::int64_t tasks) {
  cluster_ = &cluster;
  candidates_.clear();
  candidate_of_.assign(cluster.servers.size(), 0);
  traffic_.resize(cluster.servers.size());
  (void)find_rooms(cluster, job, kAllRooms);
  std::ranges::sort(rooms_, {}, &Room::server);
  std::int64_t in_all = 0;
  for (const Room& room : rooms_) in_all += room.in_all();
  for (const Room& room : rooms_) {
    const std::int64_t here = in_all >= tasks ? room.in_all() : room.with_empty();
    if (here == 0) continue;
    candidates_.push_back(
        {room.server, here, use(cluster.servers[room.server], ServerId{room.server})});
    candidate_of_[room.server] = static_cast<std::uint32_t>(candidates_.size());
  }
}

void IdealServer::bar(ServerId server) {
  const std::uint32_t index = candidate_of_[server.index()];
  if (index > 0) candidates_[index - 1].room = 0;
}

void IdealServer::clear_traffic() {
  for (const ServerId server : with_traffic_) traffic_[server.index()] = 0.0;
  with_traffic_.clear();
}

void IdealServer::add_traffic(ServerId server, std::int64_t bytes) {
  if (bytes <= 0) return;
  if (traffic_.size() <= server.index()) traffic_.resize(server.index() + 1);
  if (traffic_[server.index()] == 0.0) with_traffic_.push_back(server);
  traffic_[server.index()] += static_cast<double>(bytes);
}

// Of the candidates with room; kNone without any.
std::size_t IdealServer::nearest(ServerId before) const {
  std::array<double, kResources> least;
  least.fill(kInfinite);
  double most_traffic = 0.0;
  for (const Candidate& at : candidates_) {
    if (at.room <= 0) continue;
    for (std::size_t r = 0; r < kResources; ++r) least[r] = std::min(least[r], at.use[r]);
    most_traffic = std::max(most_traffic, traffic_[at.server]);
  }
  std::size_t best = kNone;
  double best_distance = kInfinite;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    const Candidate& at = candidates_[c];
    if (at.room <= 0) continue;
    double distance = 0.0;
    for (std::size_t r = 0; r < kResources; ++r) distance += square(at.use[r] - least[r]);
    if (most_traffic > 0) {
      distance += square(rules_.traffic_weight * (1.0 - traffic_[at.server] / most_traffic));
    }
    if (before.valid() && before.value != at.server) distance += square(rules_.movement_weight);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = c;
  }
  return best;
}

DeviceId IdealServer::least_loaded(const Job& job, ServerId server) const {
  const Server& spec = cluster_->servers[server.index()];
  const DeviceDemand demand = device_demand(job);
  DeviceId best;
  std::uint32_t most_milli = 0;
  for (std::uint32_t d = 0; d < spec.gpus; ++d) {
    const DeviceId device{spec.first_device.value + d};
    if (free_.free_milli_of(device) <= most_milli || tasks_on(demand, device) == 0) continue;
    most_milli = free_.free_milli_of(device);
    best = device;
  }
  return best;
}

Placement IdealServer::choose(const Job& job, ServerId before) {
  const std::size_t c = nearest(before);
  if (c == kNone) return {};
  const ServerId server{candidates_[c].server};
  return {server, least_loaded(job, server)};
}

void IdealServer::take(const Job& job, const Placement& place) {
  free_.hold(job, std::span(&place, 1));
  Candidate& at = candidates_[candidate_of_[place.server.index()] - 1];
  --at.room;
  at.use = use(cluster_->servers[at.server], place.server);
}

ServerId IdealServer::choose_without_gpu(const Cluster& cluster, const Job& job, ServerId before,
                                         bool anywhere) {
  candidates_.clear();
  traffic_.resize(cluster.servers.size());
  bool any_room = false;
  for (std::size_t s = 0; s < cluster.servers.size(); ++s) {
    const ServerId server{s};
    if (!free_.is_up(server)) continue;
    const Server& spec = cluster.servers[s];
    const std::int64_t room = tasks_by_host(job, spec, server) > 0 ? 1 : 0;
    any_room = any_room || room > 0;
    candidates_.push_back({server.value, room, use(spec, server)});
    candidates_.back().use[0] = 0.0;  // it takes no GPU
  }
  for (Candidate& at : candidates_) {
    const bool empty = free_.whole_free_of(ServerId{at.server}) == cluster.servers[at.server].gpus;
    if (!any_room && (anywhere || empty)) at.room = 1;
  }
  const std::size_t c = nearest(before);
  return c == kNone ? ServerId{} : ServerId{candidates_[c].server};
}

// What the whole cluster would hold under the rules, cores and memory apart: on empty servers these
// do not count.
bool IdealServerPlacer::beyond_rules(const Job& job) const {
  if (job.gpu_milli_per_task == 0) return true;
  const Cluster& cluster = free_.cluster();
  const GpuTypeMask types = usable_types(cluster, job);
  // A device that it can use holds a task at least.
  if (free_.capacity_milli(types) >= job.workers() * kWholeGpuMilli) return false;
  const std::int64_t most_milli = kWholeGpuMilli - milli_of(1.0 - rules_.most_use);
  std::int64_t tasks = 0;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    const GpuTypeMask type = GpuTypeMask{1} << t;
    if ((types & type) == 0) continue;
    const std::int64_t mib = cluster.gpu_types[t].memory_mib;
    const std::int64_t each = job.gpu_milli_per_task > most_milli
                                  ? 1
                                  : tasks_in(job, most_milli, mib > 0 ? mib : kUnlimitedMib);
    tasks += free_.capacity_milli(type) / kWholeGpuMilli * each;
  }
  return tasks < job.workers();
}

bool IdealServerPlacer::fits(const Job& job) const {
  if (beyond_rules(job)) return free_.fits(job);
  return free_.free_milli(job.gpu_types) >= job.gpu_milli() &&
         servers_.has_room(*view_->cluster, job, job.workers());
}

bool IdealServerPlacer::take(JobId id, const Job& job, std::vector<Placement>& places) {
  if (beyond_rules(job)) return free_.take(job, places);
  places.clear();
  if (!fits(job)) return false;
  servers_.list(*view_->cluster, job, job.workers());
  const bool has_run = view_->state(id).last_start_us != kNever;
  return take_listed(job, has_run ? view_->placements_of(id) : std::span<const Placement>{},
                     places);
}

bool IdealServerPlacer::take_elsewhere(JobId id, std::vector<Placement>& places) {
  const Job& job = view_->job(id);
  if (beyond_rules(job)) return false;
  servers_.list(*view_->cluster, job, job.workers());
  for (const Placement& place : view_->placements_of(id)) {
    if (place.server.valid()) servers_.bar(place.server);
  }
  return take_listed(job, {}, places);
}

bool IdealServerPlacer::take_listed(const Job& job, std::span<const Placement> before,
                                    std::vector<Placement>& places) {
  places.clear();
  traffic_.read(job, job.graph.valid() ? &view_->graphs[job.graph.index()] : nullptr);
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    servers_.clear_traffic();
    traffic_.for_each_peer(k, [&](std::uint32_t peer, std::int64_t bytes) {
      if (peer < places.size()) servers_.add_traffic(places[peer].server, bytes);
    });
    const ServerId was_on = before.empty() ? ServerId{} : before[k].server;
    if (!job.is_worker(k)) {
      places.push_back({servers_.choose_without_gpu(*view_->cluster, job, was_on, true), {}});
      continue;
    }
    const Placement place = servers_.choose(job, was_on);
    if (!place.server.valid()) {
      free_.give_back(job, places);
      return false;
    }
    servers_.take(job, place);
    places.push_back(place);
  }
  servers_.clear_traffic();
  return true;
}

}  // namespace berth
