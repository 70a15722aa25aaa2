#include "place/empty_devices.h"

namespace berth {
namespace {

Job on_whole_devices(const Job& job) {
  Job whole = job;
  if (job.gpu_milli_per_task > 0) whole.gpu_milli_per_task = kWholeGpuMilli;
  return whole;
}

}  // namespace

bool must_share_with_itself(const FreeIndex& free, const Job& job) {
  return free.capacity_milli(usable_types(free.cluster(), job)) < job.workers() * kWholeGpuMilli;
}

bool fits_empty(const FreeIndex& free, const Job& job) {
  return free.fits(must_share_with_itself(free, job) ? job : on_whole_devices(job));
}

bool take_empty(FreeIndex& free, const Job& job, std::vector<Placement>& places) {
  if (must_share_with_itself(free, job)) return free.take(job, places);
  const Job whole = on_whole_devices(job);
  if (!free.take(whole, places)) return false;
  if (job.gpu_milli_per_task != whole.gpu_milli_per_task) {
    free.give_back(whole, places);
    free.hold(job, places);
  }
  return true;
}

void take_empty_on(FreeIndex& free, const Job& job, const Cluster& cluster, ServerId server,
                   std::vector<Placement>& places) {
  places.clear();
  DeviceId device = cluster.servers[server.index()].first_device;
  for (; places.size() < job.workers(); ++device.value) {
    if (free.free_milli_of(device) == kWholeGpuMilli) places.push_back({server, device});
  }
  if (job.parameter_servers > 0) places.push_back({server, {}});
  free.hold(job, places);
}

}  // namespace berth
