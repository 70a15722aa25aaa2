#include "engine/invariants.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

std::string InvariantChecker::check_job(const ClusterView& view, JobId id) {
  const Job& job = view.job(id);
  const JobState& state = view.state(id);
  if (state.status == JobStatus::kPending) {
    return view.reasons[id.index()].code == ReasonCode::kNone
               ? fmt::format("job {} waits without a reason", id.value)
               : "";
  }
  if (state.first_start_us < job.submit_us || state.last_start_us > view.now_us) {
    return fmt::format("job {} runs outside its time", id.value);
  }
  const auto places = view.placements_of(id);
  if (places.size() != job.tasks) return fmt::format("the gang of job {} is not whole", id.value);
  for (const Placement& place : places) {
    if (!place.server.valid() || !view.servers[place.server.index()].up) {
      return fmt::format("job {} runs on a server that is not up", id.value);
    }
    if (place.device.valid() != (job.gpu_milli_per_task > 0)) {
      return fmt::format("a task of job {} has the wrong kind of place", id.value);
    }
    if (!place.device.valid()) continue;
    const Device& device = view.cluster->devices[place.device.index()];
    if (device.server != place.server || (job.gpu_types >> device.type.value & 1U) == 0) {
      return fmt::format("a task of job {} is where it must not be", id.value);
    }
    used_milli_[place.device.index()] += job.gpu_milli_per_task;
    ++tasks_[place.device.index()];
  }
  return {};
}

std::string InvariantChecker::check_devices(const ClusterView& view) const {
  for (std::size_t d = 0; d < used_milli_.size(); ++d) {
    if (used_milli_[d] > kWholeGpuMilli) return fmt::format("device {} is over-committed", d);
    if (view.devices[d].free_milli + used_milli_[d] != kWholeGpuMilli ||
        view.devices[d].tasks != tasks_[d]) {
      return fmt::format("device {}: what is free and what is used do not add up", d);
    }
  }
  return {};
}

std::string InvariantChecker::check(const ClusterView& view) {
  if (view.now_us < last_us_) return "time ran back";
  last_us_ = view.now_us;
  used_milli_.assign(view.devices.size(), 0);
  tasks_.assign(view.devices.size(), 0);
  for (; seen_ < view.jobs.size(); ++seen_) alive_.push_back(JobId{seen_});
  std::erase_if(alive_, [&](JobId id) { return view.state(id).ended(); });
  for (const JobId id : alive_) {
    if (std::string why = check_job(view, id); !why.empty()) return why;
  }
  return check_devices(view);
}

}  // namespace berth
