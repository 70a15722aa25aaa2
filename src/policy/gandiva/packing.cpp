#include "policy/gandiva/packing.h"

#include <algorithm>

namespace berth {
namespace {

bool on_different_devices(std::span<const Placement> places) {
  std::vector<DeviceId> devices;
  for (const Placement& place : places) devices.push_back(place.device);
  std::sort(devices.begin(), devices.end());
  return std::adjacent_find(devices.begin(), devices.end()) == devices.end();
}

}  // namespace

std::uint32_t PackingHosts::room_milli(JobId host) const {
  std::uint32_t least = kWholeGpuMilli;
  for (const Placement& place : view_.placements_of(host)) {
    if (place.device.valid()) least = std::min(least, free_.free_milli_of(place.device));
  }
  return least;
}

void PackingHosts::add(JobId id) {
  const Job& job = view_.job(id);
  if (job.gpu_milli_per_task == 0 || job.gpu_milli_per_task >= kWholeGpuMilli) return;
  const std::uint32_t room = room_milli(id);
  if (room == 0 || view_.state(id).tasks_placed < job.tasks) return;
  if (!on_different_devices(view_.placements_of(id))) return;
  by_width_[job.workers()].push_back({id, room});
}

void PackingHosts::sort() {
  for (auto& [width, hosts] : by_width_) {
    std::stable_sort(hosts.begin(), hosts.end(),
                     [](const Host& a, const Host& b) { return a.room_milli > b.room_milli; });
  }
}

bool PackingHosts::may_fit(const Job& job) const {
  const auto hosts = by_width_.find(job.workers());
  return hosts != by_width_.end() && job.gpu_milli_per_task > 0 &&
         job.gpu_milli_per_task <= hosts->second.front().room_milli;
}

bool PackingHosts::has_room(JobId host, const Job& job) const {
  const GpuTypeMask types = usable_types(*view_.cluster, job);
  return std::ranges::all_of(view_.placements_of(host), [&](const Placement& place) {
    if (!place.device.valid()) return true;
    const std::uint32_t type = view_.cluster->devices[place.device.index()].type.value;
    return (types >> type & 1U) != 0 &&
           tasks_in(job, free_.free_milli_of(place.device), free_.free_mib_of(place.device)) > 0;
  });
}

// The view keeps where a job ran last: there, and started while this one was running?
bool PackingHosts::was_beside(JobId id, JobId host) const {
  const JobState& state = view_.state(id);
  if (state.last_start_us == kNever) return false;
  if (state.last_start_us < view_.state(host).last_start_us) return false;
  return view_.placements_of(id).front().device == view_.placements_of(host).front().device;
}

bool PackingHosts::take(JobId id, std::vector<Placement>& places) {
  const Job& job = view_.job(id);
  if (!may_fit(job)) return false;
  std::vector<Host>& hosts = by_width_[job.workers()];
  const auto host = std::ranges::find_if(hosts, [&](const Host& candidate) {
    return candidate.room_milli < job.gpu_milli_per_task ||
           (has_room(candidate.id, job) && !was_beside(id, candidate.id));
  });
  if (host == hosts.end() || host->room_milli < job.gpu_milli_per_task) return false;
  const auto beside = view_.placements_of(host->id);
  places.assign(beside.begin(), beside.begin() + job.workers());
  if (job.parameter_servers > 0) places.push_back({places.front().server, {}});
  free_.hold(job, places);
  const Host fuller{host->id, room_milli(host->id)};
  hosts.erase(host);
  hosts.insert(std::ranges::find_if(
                   hosts, [&](const Host& at) { return at.room_milli <= fuller.room_milli; }),
               fuller);
  return true;
}

}  // namespace berth
