#include "support/obvious_policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
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

// Policies that rank: policy/common/place_walk.h and ranked_policy.h word by word, without
// patience.
class ObviousRanked final : public Obvious {
 public:
  explicit ObviousRanked(std::string_view name) : name_(name) {}

  void decide(const ClusterView& view, const Predictors& predictors, Rng& /*rng*/,
              Plan& plan) override {
    const TimeUs as_of_us = view.now_us - view.now_us % kObviousRoundUs;
    std::vector<Ranked> order;
    for (const JobStatus status : {JobStatus::kPending, JobStatus::kRunning}) {
      for (const JobId id : jobs_that(view, status)) {
        order.push_back({rank(view, predictors, id, as_of_us),
                         id,
                         status == JobStatus::kRunning,
                         may_leave(view, id),
                         {}});
      }
    }
    std::sort(order.begin(), order.end(), [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.id < b.id;
    });
    Room room(view);
    bool kept = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].runs || (kept && gpus(view.job(order[i].id)) > 0)) continue;
      if (!has_room(view, room, order, i, kept)) continue;
      order[i].starts = true;
      EXPECT_TRUE(room.take(view.job(order[i].id), order[i].places));
      starts_.push_back(i);
    }
    bool some_wait = false;
    for (const Ranked& job : order) {
      const bool ran = view.state(job.id).status == JobStatus::kRunning;
      if (ran && !job.runs) plan.actions.push_back({ActionKind::kPreemptJob, job.id, 0, {}, 0});
      some_wait = some_wait || (!job.runs && !job.starts);
    }
    for (const std::size_t i : starts_) {
      for (std::uint32_t k = 0; k < order[i].places.size(); ++k) {
        plan.actions.push_back({ActionKind::kStartTask, order[i].id, k, order[i].places[k], 0});
      }
    }
    starts_.clear();
    if (some_wait) plan.wake_us = as_of_us + kObviousRoundUs;
  }

 private:
  struct Ranked {
    double rank = 0;
    JobId id;
    bool runs = false;
    bool may_leave = false;
    std::vector<Placement> places;
    bool starts = false;
  };

  double rank(const ClusterView& view, const Predictors& predictors, JobId id,
              TimeUs as_of_us) const {
    const Job& job = view.job(id);
    const double had_s = seconds(view.state(id).attained_by(as_of_us));
    if (name_ == "smith") {
      const double left_s = seconds(predictors.run_time_us(id).value()) - had_s;
      return std::max(0.0, left_s) * static_cast<double>(gpus(job));
    }
    if (name_ == "fair") {
      const double age_s = seconds(as_of_us - job.submit_us);
      if (age_s <= 0) return 0;
      return std::floor(had_s * static_cast<double>(gpus(job)) / age_s * 1e9 + 1e-3);
    }
    const double service = had_s * static_cast<double>(gpus(job));
    return (service >= 100 ? 2e12 : service >= 20 ? 1e12 : 0) + seconds(job.submit_us);
  }

  static bool may_leave(const ClusterView& view, JobId id) {
    const JobState& state = view.state(id);
    if (state.status != JobStatus::kRunning) return false;
    const TimeUs least_us = kObviousLeastRunUs << (state.preemptions / 16);
    return view.now_us - state.last_start_us >= least_us;
  }

  // Makes room for job i if that is possible; or else what is free is kept, perhaps.
  bool has_room(const ClusterView& view, Room& room, std::vector<Ranked>& order, std::size_t i,
                bool& kept) const {
    const std::int64_t need = gpus(view.job(order[i].id));
    std::int64_t leaving = room.free();
    std::int64_t all = room.free();
    for (std::size_t r = i + 1; r < order.size(); ++r) {
      if (!order[r].runs) continue;
      all += gpus(view.job(order[r].id));
      if (order[r].may_leave) leaving += gpus(view.job(order[r].id));
    }
    if (room.free() >= need) return true;
    if (leaving < need) {
      kept = kept || all >= need;
      return false;
    }
    std::vector<std::size_t> left;
    std::int64_t free = room.free();
    for (std::size_t r = order.size(); r > i + 1 && free < need; --r) {
      if (!order[r - 1].runs || !order[r - 1].may_leave) continue;
      free += gpus(view.job(order[r - 1].id));
      left.push_back(r - 1);
    }
    for (std::size_t l = left.size(); l > 0; --l) {
      const std::int64_t held = gpus(view.job(order[left[l - 1]].id));
      if (free - held >= need) {
        free -= held;  // not in the way
        continue;
      }
      order[left[l - 1]].runs = false;
      room.give_back(view.placements_of(order[left[l - 1]].id));
    }
    return true;
  }

  std::string name_;
  std::vector<std::size_t> starts_;
};

}  // namespace

std::unique_ptr<Policy> obvious_ranked_policy(std::string_view name) {
  return std::make_unique<ObviousRanked>(name);
}

std::unique_ptr<Policy> obvious_policy(std::string_view name) {
  if (name == "fifo") return std::make_unique<ObviousFifo>();
  if (name == "fifo-backfill") return std::make_unique<ObviousEasy>();
  if (name == "sjf") return std::make_unique<ObviousSjf>();
  if (name == "srtf") return std::make_unique<ObviousSrtf>();
  return nullptr;
}

}  // namespace berth::testing
