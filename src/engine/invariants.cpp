#include "engine/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
  if (std::string why = check_replicas(view, id); !why.empty()) return why;
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    if (std::string why = check_place(view, id, k); !why.empty()) return why;
  }
  return {};
}

// Each replica is there with all its tasks or with none, and with its parameter server.
std::string InvariantChecker::check_replicas(const ClusterView& view, JobId id) const {
  const Job& job = view.job(id);
  const auto places = view.placements_of(id);
  const auto placed = [&](std::uint32_t first, std::uint32_t count) {
    const auto part = places.subspan(first, count);
    return std::ranges::count_if(part, [](const Placement& at) { return at.server.valid(); });
  };
  if (places.size() != job.tasks) return fmt::format("job {} runs nowhere", id.value);
  const auto all = placed(0, job.tasks);
  if (all == 0 || all != view.state(id).tasks_placed) {
    return fmt::format("job {} runs with {} tasks, {} are counted", id.value, all,
                       view.state(id).tasks_placed);
  }
  if (!whole_replicas_) return {};
  if (placed(job.workers(), job.parameter_servers) != job.parameter_servers) {
    return fmt::format("job {} runs without its parameter server", id.value);
  }
  for (std::uint32_t r = 0; r < job.replicas; ++r) {
    const auto there = placed(r * job.partitions(), job.partitions());
    if (there != 0 && there != job.partitions()) {
      return fmt::format("replica {} of job {} is not whole", r, id.value);
    }
  }
  return {};
}

std::string InvariantChecker::check_place(const ClusterView& view, JobId id, std::uint32_t task) {
  const Job& job = view.job(id);
  const Placement& place = view.placements_of(id)[task];
  if (!place.server.valid()) return {};
  return check_place_is_right(view, id, place, job.gpu_milli_per_task > 0 && job.is_worker(task));
}

std::string InvariantChecker::check_place_is_right(const ClusterView& view, JobId id,
                                                   const Placement& place, bool needs_device) {
  const Job& job = view.job(id);
  if (!view.servers[place.server.index()].up) {
    return fmt::format("job {} runs on a server that is not up", id.value);
  }
  if (place.device.valid() != needs_device) {
    return fmt::format("a task of job {} has the wrong kind of place", id.value);
  }
  if (!place.device.valid()) return {};
  const Device& device = view.cluster->devices[place.device.index()];
  if (device.server != place.server || (job.gpu_types >> device.type.value & 1U) == 0) {
    return fmt::format("a task of job {} is where it must not be", id.value);
  }
  if (!view.devices[place.device.index()].up) {
    return fmt::format("job {} runs on a device that is not up", id.value);
  }
  used_milli_[place.device.index()] += job.gpu_milli_per_task;
  used_mib_[place.device.index()] += job.gpu_memory_mib_per_task;
  ++tasks_[place.device.index()];
  return {};
}

// In order, each of a task that runs on a device, and each on another server than that task and its
// other copies.
std::string InvariantChecker::check_copies(const ClusterView& view) {
  for (std::size_t i = 0; i < view.copies.size(); ++i) {
    const TaskCopy& copy = view.copies[i];
    if (view.state(copy.job).status != JobStatus::kRunning ||
        !view.placements_of(copy.job)[copy.task].device.valid()) {
      return fmt::format("job {} has a copy of a task that does not run", copy.job.value);
    }
    if (std::string why = check_place_is_right(view, copy.job, copy.at, true); !why.empty()) {
      return why;
    }
    if (copy.at.server == view.placements_of(copy.job)[copy.task].server) {
      return fmt::format("job {} has a copy beside its task", copy.job.value);
    }
    const auto order = [](const TaskCopy& of) { return std::tuple(of.job, of.task, of.since_us); };
    std::size_t same = 0;
    for (const TaskCopy& before : view.copies.first(i)) {
      if (order(copy) < order(before)) return "copies are out of order";
      if (before.job != copy.job || before.task != copy.task) continue;
      ++same;
      if (before.at.server == copy.at.server) {
        return fmt::format("job {} has two copies of a task on one server", copy.job.value);
      }
    }
    if (same >= kMostTaskCopies) return fmt::format("job {} has too many copies", copy.job.value);
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
    const std::int64_t mib =
        view.cluster->gpu_types[view.cluster->devices[d].type.index()].memory_mib;
    if (mib > 0 && (used_mib_[d] > mib || view.devices[d].free_memory_mib != mib - used_mib_[d])) {
      return fmt::format("device {}: {} of {} MiB are used, {} are said to be free", d,
                         used_mib_[d], mib, view.devices[d].free_memory_mib);
    }
  }
  return {};
}

std::string InvariantChecker::check(const ClusterView& view) {
  if (view.now_us < last_us_) return "time ran back";
  last_us_ = view.now_us;
  used_milli_.assign(view.devices.size(), 0);
  used_mib_.assign(view.devices.size(), 0);
  tasks_.assign(view.devices.size(), 0);
  for (; seen_ < view.jobs.size(); ++seen_) alive_.push_back(JobId{seen_});
  std::erase_if(alive_, [&](JobId id) { return view.state(id).ended(); });
  for (const JobId id : alive_) {
    if (std::string why = check_job(view, id); !why.empty()) return why;
  }
  if (std::string why = check_copies(view); !why.empty()) return why;
  return check_devices(view);
}

}  // namespace berth
