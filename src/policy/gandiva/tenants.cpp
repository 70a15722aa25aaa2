#include "policy/gandiva/tenants.h"

#include <algorithm>
#include <utility>

#include "policy/common/progress.h"

namespace berth {
namespace {

bool takes_a_share(const Job& job) {
  return job.gpu_milli_per_task > 0 && job.gpu_milli_per_task < kWholeGpuMilli;
}

bool starts_before(const ClusterView& view, JobId a, JobId b) {
  const TimeUs a_us = view.state(a).last_start_us;
  const TimeUs b_us = view.state(b).last_start_us;
  return a_us != b_us ? a_us < b_us : a < b;
}

}  // namespace

Tenants::Tenants(const ClusterView& view, const IdSet& running)
    : view_(view), first_(view.devices.size(), kNone), last_(view.devices.size(), kNone) {
  for (std::uint32_t j = running.first(); j != IdSet::kNone; j = running.at_or_after(j + 1)) {
    const JobId id{j};
    if (!takes_a_share(view.job(id))) continue;
    for (const Placement& place : view.placements_of(id)) {
      if (!place.device.valid() || view.devices[place.device.index()].tasks < 2) continue;
      note(id, place.device);
    }
  }
  for (const std::uint32_t first : first_) {
    if (first != kNone) note_guests_of(first);
  }
  std::sort(guests_.begin(), guests_.end());
  guests_.erase(std::unique(guests_.begin(), guests_.end()), guests_.end());
}

void Tenants::note(JobId id, DeviceId device) {
  std::uint32_t& last = last_[device.index()];
  if (last != kNone && tenants_[last].job == id) return;
  const auto own = static_cast<std::uint32_t>(tenants_.size());
  tenants_.push_back({.job = id});
  (last == kNone ? first_[device.index()] : tenants_[last].next) = own;
  last = own;
}

// All on a device but the one that started first.
void Tenants::note_guests_of(std::uint32_t first) {
  JobId host = tenants_[first].job;
  for (std::uint32_t t = tenants_[first].next; t != kNone; t = tenants_[t].next) {
    const bool before = starts_before(view_, tenants_[t].job, host);
    guests_.push_back(before ? std::exchange(host, tenants_[t].job) : tenants_[t].job);
  }
}

std::vector<JobId> Tenants::partners(JobId id) const {
  std::vector<JobId> out;
  for (const Placement& place : view_.placements_of(id)) {
    if (!place.device.valid()) continue;
    for_each_on(place.device, [&](JobId other) {
      if (other != id) out.push_back(other);
    });
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<double> Tenants::gain(JobId guest) const {
  const auto own = relative_speed(view_, guest);
  if (!own) return std::nullopt;
  double gain = *own * view_.job(guest).workers();
  for (const JobId partner : partners(guest)) {
    const auto speed = relative_speed(view_, partner);
    if (!speed) return std::nullopt;
    gain -= (1.0 - *speed) * view_.job(partner).workers();
  }
  return gain;
}

}  // namespace berth
