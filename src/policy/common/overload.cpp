#include "policy/common/overload.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/common/replicas.h"
#include "policy/common/server_parts.h"

namespace berth {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

}  // namespace

OverloadRelief::Resident OverloadRelief::resident_of(JobId job, std::uint32_t task,
                                                     const Placement& at,
                                                     const TaskUse& use) const {
  constexpr double kOncePpm = 1e6;
  const ResourceVector& capacity = view_->cluster->servers[at.server.index()].capacity;
  return {
      .job = job,
      .task = task,
      .at = at,
      .use = {use.sm_ppm / kOncePpm, part_of_capacity(use.cpu_milli, capacity[Resource::kCpuMilli]),
              part_of_capacity(use.memory_mib, capacity[Resource::kMemoryMib])}};
}

// False if nobody is overloaded, or nobody reports.
bool OverloadRelief::read_uses(const IdSet& running) {
  const Cluster& cluster = *view_->cluster;
  residents_.clear();
  server_use_.assign(cluster.servers.size(), {});
  device_use_.assign(cluster.gpus(), 0.0);
  device_tasks_.assign(cluster.gpus(), 0);
  running.for_each([&](std::uint32_t j) {
    const JobId id{j};
    const auto places = view_->placements_of(id);
    const TimeUs since_us = settled_since(view_->state(id));
    for (std::uint32_t k = 0; k < places.size(); ++k) {
      if (!places[k].server.valid()) continue;
      const auto use = view_->telemetry->use(id, k);
      if (!use) return;
      residents_.push_back(resident_of(id, k, places[k], *use));
      residents_.back().since_us = since_us;
      add(residents_.back(), 1.0);
    }
  });
  // Copies of tasks do not move.
  for (const TaskCopy& copy : view_->copies) {
    const auto use = view_->telemetry->use(copy.job, copy.task);
    if (use) add(resident_of(copy.job, copy.task, copy.at, *use), 1.0);
  }
  for (std::size_t s = 0; s < cluster.servers.size(); ++s) {
    if (overloaded(ServerId{s})) return true;
  }
  return false;
}

void OverloadRelief::sort_by_server() {
  first_.assign(server_use_.size() + 1, 0);
  for (const Resident& resident : residents_) ++first_[resident.at.server.index() + 1];
  for (std::size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
  order_.resize(residents_.size());
  std::vector<std::uint32_t>& next = movable_;
  next.assign(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < residents_.size(); ++i) {
    order_[next[residents_[i].at.server.index()]++] = i;
  }
}

void OverloadRelief::add(const Resident& resident, double sign) {
  Parts& server = server_use_[resident.at.server.index()];
  for (const Kind kind : {kCpu, kMemory}) server[kind] += sign * resident.use[kind];
  if (!resident.at.device.valid()) return;
  device_use_[resident.at.device.index()] += sign * resident.use[kGpu];
  device_tasks_[resident.at.device.index()] += sign > 0 ? 1 : -1;
}

bool OverloadRelief::host_overloaded(ServerId server) const {
  const Parts& use = server_use_[server.index()];
  return use[kCpu] > rules_.limit || use[kMemory] > rules_.limit;
}

bool OverloadRelief::overloaded(ServerId server) const {
  if (host_overloaded(server)) return true;
  const Server& spec = view_->cluster->servers[server.index()];
  for (std::uint32_t d = 0; d < spec.gpus; ++d) {
    if (device_overloaded(DeviceId{spec.first_device.value + d})) return true;
  }
  return false;
}

// Whether those that have been there for so long are too many already: what has left since only
// made it less.
bool OverloadRelief::sustained(ServerId server) const {
  Parts old{};
  std::vector<double> old_by_device(view_->cluster->servers[server.index()].gpus, 0.0);
  const std::uint32_t first = view_->cluster->servers[server.index()].first_device.value;
  for (const std::uint32_t i : on(server)) {
    const Resident& resident = residents_[i];
    if (resident.moved || view_->now_us - resident.since_us < rules_.sustained_us) continue;
    for (const Kind kind : {kCpu, kMemory}) old[kind] += resident.use[kind];
    if (!resident.at.device.valid() || device_tasks_[resident.at.device.index()] < 2) continue;
    old_by_device[resident.at.device.value - first] += resident.use[kGpu];
  }
  const auto over = [&](double use) { return use > rules_.limit; };
  return over(old[kCpu]) || over(old[kMemory]) || std::ranges::any_of(old_by_device, over);
}

// Tasks on overloaded devices, the lowest share of them; where no device is overloaded all of the
// server that have one.
void OverloadRelief::list_movable(ServerId server) {
  movable_.clear();
  const auto may_move = [&](const Resident& resident) {
    return !resident.moved && resident.at.device.valid() &&
           view_->now_us - resident.since_us >= rules_.cooldown_us &&
           (rules_.cooldown_us == 0 ||
            std::ranges::none_of(moves_, [&](const Move& m) { return m.job == resident.job; }));
  };
  bool device_over = false;
  for (const std::uint32_t i : on(server)) {
    const Resident& resident = residents_[i];
    if (resident.moved || !resident.at.device.valid()) continue;
    if (!device_overloaded(resident.at.device)) continue;
    device_over = true;
    if (may_move(resident)) movable_.push_back(i);
  }
  if (device_over) return keep_lowest_share();
  for (const std::uint32_t i : on(server)) {
    if (may_move(residents_[i])) movable_.push_back(i);
  }
}

void OverloadRelief::keep_lowest_share() {
  std::ranges::stable_sort(movable_, {}, [&](std::uint32_t i) {
    return (*standing_)(residents_[i].job, residents_[i].task).priority;
  });
  const auto share = static_cast<std::size_t>(rules_.share * static_cast<double>(movable_.size()));
  movable_.resize(std::min(movable_.size(), std::max<std::size_t>(1, share)));
}

// What the task exchanges in an iteration with tasks of its job on a server.
double OverloadRelief::traffic_with(const Resident& mover, ServerId server) {
  const Job& job = view_->job(mover.job);
  if (!job.graph.valid()) return 0.0;
  traffic_.read(job, &view_->graphs[job.graph.index()]);
  const auto places = view_->placements_of(mover.job);
  double bytes = 0.0;
  traffic_.for_each_peer(mover.task, [&](std::uint32_t peer, std::int64_t with) {
    if (places[peer].server == server) bytes += static_cast<double>(with);
  });
  return bytes;
}

// Of movable_: by its use of each kind, and its traffic with those that stay as a part of the most
// of any of them. kNobody if there is none.
std::uint32_t OverloadRelief::nearest_to_ideal(ServerId server) {
  if (movable_.empty()) return kNobody;
  const Parts& all = server_use_[server.index()];
  const bool device_over = std::ranges::any_of(movable_, [&](std::uint32_t i) {
    return residents_[i].at.device.valid() && device_overloaded(residents_[i].at.device);
  });
  const std::array<bool, kKinds> over = {device_over, all[kCpu] > rules_.limit,
                                         all[kMemory] > rules_.limit};
  Parts ideal = residents_[movable_.front()].use;
  double most_traffic = 0.0;
  std::vector<double> traffic;
  for (const std::uint32_t i : movable_) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const double use = residents_[i].use[kind];
      ideal[kind] = over[kind] ? std::max(ideal[kind], use) : std::min(ideal[kind], use);
    }
    traffic.push_back(traffic_with(residents_[i], server));
    most_traffic = std::max(most_traffic, traffic.back());
  }
  std::uint32_t best = kNobody;
  double best_distance = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < movable_.size(); ++m) {
    const Parts& use = residents_[movable_[m]].use;
    double distance = most_traffic > 0 ? std::pow(traffic[m] / most_traffic, 2) : 0.0;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      distance += (use[kind] - ideal[kind]) * (use[kind] - ideal[kind]);
    }
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = movable_[m];
  }
  return best;
}

// By what is really used there.
bool OverloadRelief::has_really_room(const Resident& mover, const Placement& to) const {
  const ResourceVector& from = view_->cluster->servers[mover.at.server.index()].capacity;
  const ResourceVector& there = view_->cluster->servers[to.server.index()].capacity;
  const Parts& use = server_use_[to.server.index()];
  const auto fits = [&](Kind kind, Resource resource) {
    if (there[resource] <= 0) return true;
    const double amount = mover.use[kind] * static_cast<double>(from[resource]);
    return use[kind] + amount / static_cast<double>(there[resource]) <= rules_.limit;
  };
  const bool alone = device_tasks_[to.device.index()] == 0;
  return (alone || device_use_[to.device.index()] + mover.use[kGpu] <= rules_.limit) &&
         fits(kCpu, Resource::kCpuMilli) && fits(kMemory, Resource::kMemoryMib);
}

// Of those with room for what is declared; there is one.
DeviceId OverloadRelief::least_used_device(const Job& job, ServerId server) const {
  const Server& spec = view_->cluster->servers[server.index()];
  DeviceId best;
  for (std::uint32_t d = 0; d < spec.gpus; ++d) {
    const DeviceId device{spec.first_device.value + d};
    if (!servers_.fits_on(job, device)) continue;
    if (best.valid() && device_use_[device.index()] >= device_use_[best.index()]) continue;
    best = device;
  }
  return best;
}

// Another device of its own server may do where only its device is overloaded. Invalid if there is
// none.
Placement OverloadRelief::target(const Resident& mover) {
  const Job& job = view_->job(mover.job);
  servers_.list(*view_->cluster, job, 1);
  for (std::size_t s = 0; s < server_use_.size(); ++s) {
    const bool own = s == mover.at.server.index();
    if (own ? host_overloaded(ServerId{s}) : overloaded(ServerId{s})) servers_.bar(ServerId{s});
  }
  servers_.clear_traffic();
  const auto places = view_->placements_of(mover.job);
  if (job.graph.valid()) {
    traffic_.read(job, &view_->graphs[job.graph.index()]);
    traffic_.for_each_peer(mover.task, [&](std::uint32_t peer, std::int64_t bytes) {
      if (places[peer].server.valid()) servers_.add_traffic(places[peer].server, bytes);
    });
  }
  while (true) {
    Placement place = servers_.choose(job, {});
    if (!place.server.valid()) return {};
    place.device = least_used_device(job, place.server);
    if (has_really_room(mover, place)) return place;
    servers_.bar(place.server);
  }
}

// How many times longer its iterations are for what is overloaded.
double OverloadRelief::slowdown(const Resident& resident) const {
  const Parts& all = server_use_[resident.at.server.index()];
  double factor = 1.0;
  if (resident.at.device.valid() && device_overloaded(resident.at.device)) {
    factor *= device_use_[resident.at.device.index()];
  }
  for (const Kind kind : {kCpu, kMemory}) {
    if (resident.use[kind] > 0) factor *= std::max(1.0, all[kind]);
  }
  return factor;
}

// The time that jobs on the server still take beyond what they would, by their slowest task there.
double OverloadRelief::lost_us(ServerId server) const {
  double sum = 0.0;
  const auto here = on(server);
  for (std::size_t i = 0; i < here.size();) {
    const JobId id = residents_[here[i]].job;
    double slowest = 1.0;
    for (; i < here.size() && residents_[here[i]].job == id; ++i) {
      if (!residents_[here[i]].moved) {
        slowest = std::max(slowest, slowdown(residents_[here[i]]));
      }
    }
    if (slowest > 1.0) {
      sum += (slowest - 1.0) * static_cast<double>((*standing_)(id, 0).remaining_us);
    }
  }
  return sum;
}

// The same without the mover, and what it loses where its iterations have to cross a link.
double OverloadRelief::lost_after_move_us(const Resident& mover, const Placement& to) {
  const double left = lost_us(mover.at.server);
  const auto per_s = view_->telemetry->iterations_per_s(mover.job);
  const double bytes = traffic_with(mover, mover.at.server) - traffic_with(mover, to.server);
  if (!per_s || bytes <= 0) return left;
  const std::int64_t slower = slower_link_bytes_per_s(*view_->cluster, mover.at.server, to.server);
  if (slower <= 0) return left;
  const double replicas = std::max(1U, running_replicas(*view_, mover.job));
  return left + bytes / static_cast<double>(slower) * *per_s / replicas *
                    static_cast<double>((*standing_)(mover.job, mover.task).remaining_us);
}

// Whether the mover, which has left, is to go there.
bool OverloadRelief::worth_it(const Resident& mover, const Placement& to, double lost_before_us) {
  if (!to.server.valid()) return rules_.queues;
  if (!rules_.cost_us) return true;
  return lost_before_us - lost_after_move_us(mover, to) > static_cast<double>(*rules_.cost_us);
}

bool OverloadRelief::relieve_once(ServerId server) {
  list_movable(server);
  const std::uint32_t index = nearest_to_ideal(server);
  if (index == kNobody) return false;
  Resident& mover = residents_[index];
  const double lost_before_us = rules_.cost_us ? lost_us(server) : 0.0;
  add(mover, -1.0);
  mover.moved = true;
  const Placement to = target(mover);
  if (!worth_it(mover, to, lost_before_us)) {
    mover.moved = false;
    add(mover, 1.0);
    return false;
  }
  moves_.push_back({mover.job, mover.task, to});
  left_.push_back(index);
  if (!to.server.valid()) return true;
  free_.hold(view_->job(mover.job), std::span(&to, 1));
  // What it takes there, for those that move after it.
  Resident there = mover;
  there.at = to;
  add(there, 1.0);
  return true;
}

std::span<const OverloadRelief::Move> OverloadRelief::find(const ClusterView& view,
                                                           const IdSet& running,
                                                           const AskStanding& standing) {
  view_ = &view;
  standing_ = &standing;
  moves_.clear();
  left_.clear();
  if (view.telemetry == nullptr || !read_uses(running)) return {};
  sort_by_server();
  for (std::size_t s = 0; s < server_use_.size(); ++s) {
    const ServerId server{s};
    while (overloaded(server) && sustained(server) && relieve_once(server)) {
    }
  }
  for (const std::uint32_t i : left_) {
    free_.give_back(view.job(residents_[i].job), std::span(&residents_[i].at, 1));
  }
  return moves_;
}

}  // namespace berth
