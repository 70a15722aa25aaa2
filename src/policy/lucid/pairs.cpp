#include "policy/lucid/pairs.h"

#include <algorithm>

#include "base/int128.h"
#include "place/empty_devices.h"

namespace berth {

int sharing_score(const PackingRules& rules, double utilisation) {
  if (utilisation <= rules.tiny_util) return 0;
  return utilisation <= rules.jumbo_util ? 1 : 2;
}

double utilisation(const ClusterView& view, JobId id) {
  const Job& job = view.job(id);
  double most = job.gpu_milli_per_task / static_cast<double>(kWholeGpuMilli);
  if (view.telemetry == nullptr) return most;
  for (std::uint32_t k = 0; k < job.workers(); ++k) {
    const auto use = view.telemetry->use(id, k);
    if (!use) break;
    most = std::max(most, std::max(use->sm_ppm, use->memory_bandwidth_ppm) / 1e6);
  }
  return most;
}

std::int64_t lucid_priority(const Job& job, const Predictors& predictors, JobId id) {
  const auto run_time_us = predictors.run_time_us(id);
  if (!run_time_us) return kNever;
  const Int128 gpu_us = static_cast<Int128>(*run_time_us) * std::max(1U, job.workers());
  return static_cast<std::int64_t>(std::min<Int128>(gpu_us, kNever));
}

void PairPlacer::begin(const ClusterView& view, const Predictors& predictors) {
  view_ = &view;
  predictors_ = &predictors;
  hosts_.clear();
}

bool PairPlacer::may_share(const Job& job) const {
  return job.gpu_milli_per_task > 0 && job.gpu_milli_per_task < kWholeGpuMilli &&
         job.workers() <= rules_.most_gpus;
}

void PairPlacer::add_host(JobId id, std::span<const Placement> places) {
  const Job& job = view_->job(id);
  if (!may_share(job)) return;
  // Whole (a failure may have taken a replica), and alone.
  const auto alone = [&](const Placement& place) {
    return place.server.valid() &&
           (!place.device.valid() ||
            free_.free_milli_of(place.device) + job.gpu_milli_per_task == kWholeGpuMilli);
  };
  if (places.size() != job.tasks || !std::ranges::all_of(places, alone)) return;
  hosts_[job.workers()].push_back({.id = id,
                                   .score = sharing_score(rules_, utilisation(*view_, id)),
                                   .priority = lucid_priority(job, *predictors_, id),
                                   .places = {places.begin(), places.end()}});
}

bool PairPlacer::fits(const Job& job) const {
  if (job.gpu_milli_per_task == 0 || fits_empty(free_, job)) return free_.fits(job);
  return may_share(job) && hosts_.contains(job.workers());
}

bool PairPlacer::has_room(const Host& host, const Job& job) const {
  const GpuTypeMask types = usable_types(*view_->cluster, job);
  return std::ranges::all_of(host.places, [&](const Placement& place) {
    if (!place.device.valid()) return true;
    const std::uint32_t type = view_->cluster->devices[place.device.index()].type.value;
    const auto here = std::ranges::count(host.places, place.server, &Placement::server);
    return (types >> type & 1U) != 0 &&
           tasks_in(job, free_.free_milli_of(place.device), free_.free_mib_of(place.device)) > 0 &&
           free_.tasks_by_host(job, place.server.value) >= here;
  });
}

bool PairPlacer::join(JobId id, const Job& job, std::vector<Placement>& places) {
  const auto same_width = hosts_.find(job.workers());
  if (!may_share(job) || same_width == hosts_.end()) return false;
  const int score = sharing_score(rules_, utilisation(*view_, id));
  const double priority = static_cast<double>(lucid_priority(job, *predictors_, id));
  std::vector<Host>& hosts = same_width->second;
  const auto host = std::ranges::find_if(hosts, [&](const Host& candidate) {
    return score + candidate.score <= rules_.most_score &&
           priority <= rules_.most_ratio * static_cast<double>(candidate.priority) &&
           has_room(candidate, job);
  });
  if (host == hosts.end()) return false;
  places.assign(host->places.begin(), host->places.begin() + job.workers());
  if (job.parameter_servers > 0) places.push_back({places.front().server, {}});
  free_.hold(job, places);
  hosts.erase(host);
  if (hosts.empty()) hosts_.erase(same_width);
  return true;
}

bool PairPlacer::take(JobId id, const Job& job, std::vector<Placement>& places) {
  if (job.gpu_milli_per_task == 0) return free_.take(job, places);
  if (join(id, job, places)) return true;
  if (!take_empty(free_, job, places)) return false;
  add_host(id, places);
  return true;
}

}  // namespace berth
