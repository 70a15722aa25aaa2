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
  if (view_.state(id).tasks_placed < job.tasks || room_milli(id) == 0) return;
  if (!on_different_devices(view_.placements_of(id))) return;
  by_width_[job.workers()].push_back(id);
}

bool PackingHosts::may_fit(const Job& job) const {
  return job.gpu_milli_per_task < kWholeGpuMilli && by_width_.contains(job.workers());
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

// The view keeps where a job ran last: beside this one, since it started there?
bool PackingHosts::was_taken_off(JobId id, JobId host) const {
  const JobState& state = view_.state(id);
  if (state.last_start_us == kNever) return false;
  if (state.last_start_us < view_.state(host).last_start_us) return false;
  return view_.placements_of(id).front().device == view_.placements_of(host).front().device;
}

bool PackingHosts::find(JobId id, std::vector<Placement>& places) const {
  const Job& job = view_.job(id);
  const auto hosts = by_width_.find(job.workers());
  if (hosts == by_width_.end()) return false;
  JobId best;
  std::uint32_t best_room = 0;
  for (const JobId host : hosts->second) {
    const std::uint32_t room = room_milli(host);
    if (room <= best_room || room < job.gpu_milli_per_task) continue;
    if (!has_room(host, job) || was_taken_off(id, host)) continue;
    best = host;
    best_room = room;
  }
  if (!best.valid()) return false;
  const auto beside = view_.placements_of(best);
  places.assign(beside.begin(), beside.begin() + job.workers());
  if (job.parameter_servers > 0) places.push_back({places.front().server, {}});
  return true;
}

}  // namespace berth
