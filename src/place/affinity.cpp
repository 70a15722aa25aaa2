#include "place/affinity.h"

#include <tuple>

#include "place/empty_devices.h"

namespace berth {

void AffinityPlacer::begin(const ClusterView& view, const IdSet& running) {
  view_ = &view;
  running_ = &running;
  known_ = false;
}

void AffinityPlacer::note(const Job& job, std::span<const Placement> places) {
  for (const Placement& place : places) {
    if (!place.device.valid()) continue;
    std::uint32_t& affinity = affinities_[place.server.index()];
    if (affinity == 0) affinity = job.workers();
  }
}

// Most rounds place nothing: read when somebody has to be placed.
void AffinityPlacer::read_affinities() {
  if (known_) return;
  known_ = true;
  affinities_.assign(view_->cluster->servers.size(), 0);
  running_->for_each(
      [&](std::uint32_t j) { note(view_->job(JobId{j}), view_->placements_of(JobId{j})); });
}

std::uint32_t AffinityPlacer::affinity(ServerId server) {
  read_affinities();
  return affinities_[server.index()];
}

bool AffinityPlacer::fits(const Job& job) const {
  return fits_empty(free_, job);
}

ServerId AffinityPlacer::best_server(const Job& job) {
  const GpuTypeMask types = usable_types(*view_->cluster, job);
  ServerId best;
  std::tuple<int, std::uint32_t> best_key;
  for (std::size_t s = 0; s < view_->cluster->servers.size(); ++s) {
    const ServerId server{s};
    const std::uint32_t empty = free_.whole_free_of(server);
    if (empty < job.workers()) continue;
    if ((types >> view_->cluster->servers[s].gpu_type.value & 1U) == 0) continue;
    const std::uint32_t kept_to = affinity(server);
    const int kind = kept_to == job.workers() ? 0 : kept_to == 0 ? 1 : 2;
    const std::tuple<int, std::uint32_t> key{kind, ~empty};
    if (best.valid() && key >= best_key) continue;
    best = server;
    best_key = key;
  }
  return best;
}

bool AffinityPlacer::take(JobId /*id*/, const Job& job, std::vector<Placement>& places) {
  if (job.gpu_milli_per_task == 0) return free_.take(job, places);
  if (!fits(job)) return false;
  read_affinities();
  const ServerId server = best_server(job);
  if (!server.valid()) {
    if (!take_empty(free_, job, places)) return false;
  } else {
    take_empty_on(free_, job, *view_->cluster, server, places);
  }
  note(job, places);
  return true;
}

}  // namespace berth
