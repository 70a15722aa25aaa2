#include "support/obvious_policies.h"

#include <algorithm>
#include <vector>

namespace berth::testing {
namespace {

// Free devices, whole ones only.
class Room {
 public:
  explicit Room(const ClusterView& view) : cluster_(*view.cluster) {
    for (const DeviceState& device : view.devices) free_.push_back(device.free_milli == 1000);
  }
  [[nodiscard]] std::int64_t free() const { return std::count(free_.begin(), free_.end(), true); }

  // On the server with the fewest free devices that holds all; else the emptiest server is filled,
  // and the rest goes on as a smaller job.
  [[nodiscard]] bool take(const Job& job, std::vector<Placement>& places) {
    if (job.gpu_milli_per_task == 0) {
      places.assign(job.tasks, {ServerId{0U}, {}});
      return true;
    }
    if (free() < job.tasks) return false;
    auto left = static_cast<std::int64_t>(job.tasks);
    while (left > 0) {
      std::size_t chosen = cluster_.servers.size();
      for (std::size_t s = 0; s < cluster_.servers.size(); ++s) {
        if (free_on(s) >= left &&
            (chosen == cluster_.servers.size() || free_on(s) < free_on(chosen))) {
          chosen = s;
        }
      }
      if (chosen == cluster_.servers.size()) {
        chosen = 0;
        for (std::size_t s = 1; s < cluster_.servers.size(); ++s) {
          if (free_on(s) > free_on(chosen)) chosen = s;
        }
      }
      const Server& server = cluster_.servers[chosen];
      for (std::uint32_t i = 0; i < server.gpus && left > 0; ++i) {
        const DeviceId device{server.first_device.value + i};
        if (!free_[device.index()]) continue;
        free_[device.index()] = false;
        places.push_back({ServerId{chosen}, device});
        --left;
      }
    }
    return true;
  }
  void give_back(std::span<const Placement> places) {
    for (const Placement& place : places) {
      if (place.device.valid()) free_[place.device.index()] = true;
    }
  }

 private:
  [[nodiscard]] std::int64_t free_on(std::size_t s) const {
    const Server& server = cluster_.servers[s];
    const auto first = free_.begin() + server.first_device.value;
    return std::count(first, first + server.gpus, true);
  }
  const Cluster& cluster_;
  std::vector<bool> free_;
};

class Obvious : public Policy {
 public:
  void drop_caches() override {}

 protected:
  static std::int64_t gpus(const Job& job) { return job.gpu_milli_per_task == 0 ? 0 : job.tasks; }
  static std::vector<JobId> jobs_that(const ClusterView& view, JobStatus status) {
    std::vector<JobId> out;
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      if (view.states[j].status != status) continue;
      if (gpus(view.jobs[j]) > static_cast<std::int64_t>(view.cluster->gpus())) continue;
      out.push_back(JobId{j});
    }
    return out;
  }
  static TimeUs remaining_us(const ClusterView& view, const Predictors& predictors, JobId id) {
    return predictors.run_time_us(id).value() - view.state(id).attained_by(view.now_us);
  }
  static bool start(const ClusterView& view, Room& room, JobId id, Plan& plan) {
    std::vector<Placement> places;
    if (!room.take(view.job(id), places)) return false;
    for (std::uint32_t k = 0; k < places.size(); ++k) {
      plan.actions.push_back({ActionKind::kStartTask, id, k, places[k], 0});
    }
    return true;
  }
};

class ObviousFifo final : public Obvious {
 public:
  void decide(const ClusterView& view, const Predictors& /*predictors*/, Rng& /*rng*/,
              Plan& plan) override {
    Room room(view);
    for (const JobId id : jobs_that(view, JobStatus::kPending)) {
      if (!start(view, room, id, plan)) return;
    }
  }
};

class ObviousEasy final : public Obvious {
 public:
  void decide(const ClusterView& view, const Predictors& predictors, Rng& /*rng*/,
              Plan& plan) override {
    Room room(view);
    struct End {
      TimeUs at_us;
      std::int64_t gpus;
    };
    std::vector<End> ends;
    const auto add_end = [&](JobId id) {
      const TimeUs ran_us = view.state(id).attained_by(view.now_us);
      TimeUs total_us = std::max<TimeUs>(1, predictors.run_time_us(id).value());
      while (total_us <= ran_us) total_us *= 2;
      ends.push_back({view.now_us + total_us - ran_us, gpus(view.job(id))});
    };
    for (const JobId id : jobs_that(view, JobStatus::kRunning)) add_end(id);
    const auto queue = jobs_that(view, JobStatus::kPending);
    std::size_t head = 0;
    for (; head < queue.size() && start(view, room, queue[head], plan); ++head)
      add_end(queue[head]);
    if (head == queue.size()) return;
    std::sort(ends.begin(), ends.end(),
              [](const End& a, const End& b) { return a.at_us < b.at_us; });
    const std::int64_t need = gpus(view.job(queue[head]));
    std::int64_t free = room.free();
    TimeUs shadow_us = view.now_us;
    for (std::size_t i = 0; i < ends.size() && (free < need || ends[i].at_us == shadow_us); ++i) {
      free += ends[i].gpus;
      shadow_us = ends[i].at_us;
    }
    std::int64_t extra = free - need;
    for (std::size_t i = head + 1; i < queue.size(); ++i) {
      const JobId id = queue[i];
      const std::int64_t wants = gpus(view.job(id));
      const TimeUs left_us = std::max<TimeUs>(0, remaining_us(view, predictors, id));
      const bool in_time = view.now_us + left_us <= shadow_us;
      if (!in_time && wants > extra) continue;
      if (start(view, room, id, plan) && !in_time) extra -= wants;
    }
  }
};

class ObviousSjf final : public Obvious {
 public:
  void decide(const ClusterView& view, const Predictors& predictors, Rng& /*rng*/,
              Plan& plan) override {
    Room room(view);
    auto queue = jobs_that(view, JobStatus::kPending);
    std::stable_sort(queue.begin(), queue.end(), [&](JobId a, JobId b) {
      return predictors.run_time_us(a) < predictors.run_time_us(b);
    });
    for (const JobId id : queue) (void)start(view, room, id, plan);
  }
};

class ObviousSrtf final : public Obvious {
 public:
  void decide(const ClusterView& view, const Predictors& predictors, Rng& /*rng*/,
              Plan& plan) override {
    auto order = jobs_that(view, JobStatus::kPending);
    const auto running = jobs_that(view, JobStatus::kRunning);
    order.insert(order.end(), running.begin(), running.end());
    std::sort(order.begin(), order.end(), [&](JobId a, JobId b) {
      const TimeUs left_a = remaining_us(view, predictors, a);
      const TimeUs left_b = remaining_us(view, predictors, b);
      return left_a != left_b ? left_a < left_b : a < b;
    });
    auto left = static_cast<std::int64_t>(view.cluster->gpus());
    std::vector<JobId> starts;
    Room room(view);
    for (const JobId id : order) {
      const bool selected = gpus(view.job(id)) <= left;
      if (selected) left -= gpus(view.job(id));
      const bool runs = view.state(id).status == JobStatus::kRunning;
      if (selected && !runs) starts.push_back(id);
      if (!selected && runs) {
        plan.actions.push_back({ActionKind::kPreemptJob, id, 0, {}, 0});
        room.give_back(view.placements_of(id));
      }
    }
    // Jobs without GPUs are a pool of their own, which comes last.
    std::stable_partition(starts.begin(), starts.end(),
                          [&](JobId id) { return gpus(view.job(id)) > 0; });
    for (const JobId id : starts) (void)start(view, room, id, plan);
  }
};

}  // namespace

std::unique_ptr<Policy> obvious_policy(std::string_view name) {
  if (name == "fifo") return std::make_unique<ObviousFifo>();
  if (name == "fifo-backfill") return std::make_unique<ObviousEasy>();
  if (name == "sjf") return std::make_unique<ObviousSjf>();
  if (name == "srtf") return std::make_unique<ObviousSrtf>();
  return nullptr;
}

}  // namespace berth::testing
