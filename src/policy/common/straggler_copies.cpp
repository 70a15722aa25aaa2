#include "policy/common/straggler_copies.h"

#include <algorithm>
#include <utility>

#include "policy/common/replicas.h"
#include "policy/common/server_parts.h"

namespace berth {
namespace {

constexpr double kWholeDevicePpm = 1e6;

Action drop_of(const TaskCopy& copy) {
  return {.kind = ActionKind::kDropCopy, .job = copy.job, .task = copy.task, .to = copy.at};
}

}  // namespace

void StragglerCopies::lend(const ClusterView& view) {
  for (const TaskCopy& copy : view.copies) {
    free_.give_back(view.job(copy.job), std::span(&copy.at, 1));
  }
  lent_ = true;
}

void StragglerCopies::take_back(const ClusterView& view, Plan& plan) {
  if (!std::exchange(lent_, false) || view.copies.empty()) return;
  list_acted_on(plan, true);
  drops_.clear();
  for (const TaskCopy& copy : view.copies) {
    // Copies go with a job that leaves or moves.
    if (is_acted_on(copy.job)) continue;
    const Job& job = view.job(copy.job);
    const bool stays = free_.free_milli_of(copy.at.device) >= job.gpu_milli_per_task &&
                       free_.free_mib_of(copy.at.device) >= job.gpu_memory_mib_per_task &&
                       free_.tasks_by_host(job, copy.at.server.value) > 0;
    if (stays) {
      free_.hold(job, std::span(&copy.at, 1));
    } else {
      drops_.push_back(drop_of(copy));
    }
  }
  plan.actions.insert(plan.actions.begin(), drops_.begin(), drops_.end());
}

void StragglerCopies::list_acted_on(const Plan& plan, bool leaving_only) {
  acted_on_.clear();
  for (const auto& [kind, job, task, to, value] : plan.actions) {
    const bool leaves = kind == ActionKind::kPreemptJob || kind == ActionKind::kMoveTask;
    if (leaves || !leaving_only) acted_on_.push_back(job);
  }
  std::ranges::sort(acted_on_);
}

bool StragglerCopies::is_acted_on(JobId job) const {
  return std::ranges::binary_search(acted_on_, job);
}

// Whether any is slow.
bool StragglerCopies::read_devices() {
  const std::size_t count = view_->devices.size();
  slow_.assign(count, 1.0);
  slow_since_us_.assign(count, 0);
  bool any = false;
  for (std::size_t d = 0; d < count; ++d) {
    const auto speed = view_->telemetry->device_speed(DeviceId{d});
    if (!speed || speed->part <= 0) continue;
    slow_[d] = 1.0 / speed->part;
    slow_since_us_[d] = speed->since_us;
    any = any || slow_[d] >= rules_.factor;
  }
  return any;
}

void StragglerCopies::add_use(JobId job, std::uint32_t task, const Placement& at) {
  const auto use = view_->telemetry->use(job, task);
  if (!use) return;
  const ResourceVector& capacity = view_->cluster->servers[at.server.index()].capacity;
  HostUse& host = host_use_[at.server.index()];
  host.cpu += part_of_capacity(use->cpu_milli, capacity[Resource::kCpuMilli]);
  host.memory += part_of_capacity(use->memory_mib, capacity[Resource::kMemoryMib]);
  if (!at.device.valid()) return;
  device_use_[at.device.index()] += use->sm_ppm / kWholeDevicePpm;
  ++on_device_[at.device.index()];
}

void StragglerCopies::read_uses(const IdSet& running) {
  device_use_.assign(view_->devices.size(), 0.0);
  on_device_.assign(view_->devices.size(), 0);
  host_use_.assign(view_->servers.size(), {});
  running.for_each([&](std::uint32_t j) {
    const auto places = view_->placements_of(JobId{j});
    for (std::uint32_t k = 0; k < places.size(); ++k) {
      if (places[k].server.valid()) add_use(JobId{j}, k, places[k]);
    }
  });
  for (const TaskCopy& copy : view_->copies) add_use(copy.job, copy.task, copy.at);
}

// The lower median of its tasks; of one task alone a device in health.
double StragglerCopies::usual_slowness(JobId job) {
  gang_.clear();
  for (const Placement& at : view_->placements_of(job)) {
    if (at.device.valid()) gang_.push_back(slowness(at));
  }
  if (gang_.size() < 2) return 1.0;
  const auto middle = gang_.begin() + static_cast<std::ptrdiff_t>((gang_.size() - 1) / 2);
  std::ranges::nth_element(gang_, middle);
  return *middle;
}

void StragglerCopies::drop_some(Plan& plan) {
  for (const TaskCopy& copy : view_->copies) {
    if (is_acted_on(copy.job)) continue;
    const double own = slowness(view_->placements_of(copy.job)[copy.task]);
    if (own >= rules_.factor * usual_slowness(copy.job) && slowness(copy.at) < own) continue;
    plan.actions.push_back(drop_of(copy));
    free_.give_back(view_->job(copy.job), std::span(&copy.at, 1));
  }
}

bool StragglerCopies::has_straggled(const Placement& at, double usual) const {
  return slowness(at) >= rules_.factor * usual &&
         view_->now_us - slow_since_us_[at.device.index()] >= rules_.sustained_us;
}

void StragglerCopies::copy_some(JobId id, TimeUs remaining_us, Plan& plan) {
  const Job& job = view_->job(id);
  const auto places = view_->placements_of(id);
  const double usual = usual_slowness(id);
  for (std::uint32_t k = 0; k < job.workers(); ++k) {
    if (!places[k].device.valid() || !has_straggled(places[k], usual)) continue;
    const bool copied = std::ranges::any_of(copies_of(view_->copies, id),
                                            [&](const TaskCopy& of) { return of.task == k; });
    // Where one was found before, there was room for no more, or no use in them.
    if (copied) continue;
    servers_.list(*view_->cluster, job, 1);
    servers_.bar(places[k].server);
    for (std::size_t made = 0; made < rules_.most_copies; ++made) {
      const Placement to = target(id, k);
      if (!to.server.valid()) break;
      if (saved_us(id, k, to, remaining_us) <= static_cast<double>(rules_.cost_us)) break;
      plan.actions.push_back({.kind = ActionKind::kCopyTask, .job = id, .task = k, .to = to});
      servers_.take(job, to);
      servers_.bar(to.server);
      add_use(id, k, to);
    }
  }
}

// Among the servers that are listed. Invalid if there is none.
Placement StragglerCopies::target(JobId id, std::uint32_t task) {
  const Job& job = view_->job(id);
  const auto places = view_->placements_of(id);
  traffic_.read(job, &view_->graphs[job.graph.index()]);
  servers_.clear_traffic();
  traffic_.for_each_peer(task, [&](std::uint32_t peer, std::int64_t bytes) {
    if (places[peer].server.valid()) servers_.add_traffic(places[peer].server, bytes);
  });
  while (true) {
    const Placement to = servers_.choose(job, {});
    if (!to.server.valid()) return {};
    if (slowness(to) < slowness(places[task]) && has_really_room(id, task, to)) return to;
    servers_.bar(to.server);
  }
}

// By what is really used there.
bool StragglerCopies::has_really_room(JobId job, std::uint32_t task, const Placement& to) const {
  const auto use = view_->telemetry->use(job, task);
  if (!use) return false;
  const ResourceVector& capacity = view_->cluster->servers[to.server.index()].capacity;
  const HostUse& host = host_use_[to.server.index()];
  return (on_device_[to.device.index()] == 0 ||
          device_use_[to.device.index()] + use->sm_ppm / kWholeDevicePpm <= 1.0) &&
         host.cpu + part_of_capacity(use->cpu_milli, capacity[Resource::kCpuMilli]) <= 1.0 &&
         host.memory + part_of_capacity(use->memory_mib, capacity[Resource::kMemoryMib]) <= 1.0;
}

// What an iteration of the copy takes longer because it is not with whom its task is.
double StragglerCopies::more_link_us(JobId id, std::uint32_t task, const Placement& to) {
  const auto places = view_->placements_of(id);
  const ServerId from = places[task].server;
  std::int64_t bytes = 0;
  traffic_.for_each_peer(task, [&](std::uint32_t peer, std::int64_t with) {
    if (places[peer].server == from) bytes += with;
    if (places[peer].server == to.server) bytes -= with;
  });
  const std::int64_t slower = slower_link_bytes_per_s(*view_->cluster, from, to.server);
  if (bytes <= 0 || slower <= 0) return 0.0;
  return static_cast<double>(bytes) / static_cast<double>(slower) * static_cast<double>(kUsPerS);
}

// Of the time that its job still takes. After target() of the same task.
double StragglerCopies::saved_us(JobId id, std::uint32_t task, const Placement& to,
                                 TimeUs remaining_us) {
  const Job& job = view_->job(id);
  const auto per_s = view_->telemetry->iterations_per_s(id);
  if (!per_s || *per_s <= 0) return 0.0;
  const std::uint32_t partition = task % job.partitions();
  const TaskSpec& spec = view_->graphs[job.graph.index()].tasks[partition];
  const auto takes_us = [&](const Placement& at) {
    const GpuTypeId type = view_->cluster->devices[at.device.index()].type;
    const auto speed_milli = view_->cluster->gpu_types[type.index()].speed_milli;
    return static_cast<double>(spec.compute_us) * slowness(at) * 1000.0 /
           static_cast<double>(speed_milli);
  };
  const Placement& own = view_->placements_of(id)[task];
  const double gain_us = takes_us(own) - takes_us(to) - more_link_us(id, task, to);
  // Its replica's iterations are a part of the job's.
  const double replicas = std::max(1U, running_replicas(*view_, id));
  const double iteration_us = replicas / *per_s * static_cast<double>(kUsPerS);
  return gain_us / iteration_us / replicas * static_cast<double>(remaining_us);
}

void StragglerCopies::renew(const ClusterView& view, const IdSet& running,
                            const AskRemaining& remaining, Plan& plan) {
  view_ = &view;
  const bool any_slow = read_devices();
  if (!any_slow && view.copies.empty()) return;
  list_acted_on(plan, false);
  drop_some(plan);
  if (!any_slow) return;
  read_uses(running);
  running.for_each([&](std::uint32_t j) {
    const JobId id{j};
    const Job& job = view.job(id);
    const JobState& state = view.state(id);
    const bool settled = view.now_us - settled_since(state) >= rules_.sustained_us;
    if (!settled || !job.graph.valid() || state.tasks_placed < job.tasks || is_acted_on(id)) return;
    const bool slow = std::ranges::any_of(view.placements_of(id), [&](const Placement& at) {
      return at.device.valid() && slowness(at) >= rules_.factor;
    });
    if (slow) copy_some(id, remaining(id), plan);
  });
}

}  // namespace berth
