#include "support/training.h"

#include <algorithm>
#include <cmath>

namespace berth::testing {
namespace {

TaskGraph random_graph(Rng& rng, std::uint32_t partitions, CommStructure comm) {
  TaskGraph graph;
  graph.comm = comm;
  for (std::uint32_t k = 0; k < partitions; ++k) {
    graph.tasks.push_back({.parameters = static_cast<std::int64_t>(rng.below(50)),
                           .compute_us = static_cast<std::int64_t>(rng.below(300'000)),
                           .exchange_bytes = static_cast<std::int64_t>(rng.below(2'000'000))});
    for (std::uint32_t to = k + 1; to < partitions; ++to) {
      if (to > k + 1 && !rng.chance(0.3)) continue;
      graph.edges.push_back({k, to, static_cast<std::int64_t>(rng.below(2'000'000))});
    }
  }
  return graph;
}

LearningCurve random_curve(Rng& rng) {
  LearningCurve curve;
  curve.first_accuracy = 0.1;
  curve.last_accuracy = rng.uniform(0.5, 1.0);
  curve.half_iterations = rng.uniform(1.0, 20.0);
  curve.exponent = rng.uniform(0.5, 2.0);
  if (rng.chance(0.3)) {
    curve.peak_iteration = static_cast<std::int64_t>(rng.below(60));
    curve.decline_per_iteration = 0.001;
  }
  return curve;
}

void add_uses(Rng& rng, const Job& job, std::vector<TaskUse>& uses) {
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    TaskUse use;
    if (job.is_worker(k)) {
      use.sm_ppm = static_cast<std::int32_t>(rng.uniform_int(0, 1'000'000));
      use.memory_bandwidth_ppm = static_cast<std::int32_t>(rng.uniform_int(0, 900'000));
    }
    use.cpu_milli = static_cast<std::int32_t>(rng.below(4'000));
    use.memory_mib = static_cast<std::int32_t>(rng.below(4'000));
    uses.push_back(use);
  }
}

StopOption random_stop(Rng& rng) {
  return static_cast<StopOption>(rng.below(3));
}

class Senseless final : public Policy {
 public:
  explicit Senseless(bool whole) : whole_(whole) {}

  void decide(const ClusterView& view, const Predictors& /*predictors*/, Rng& rng,
              Plan& plan) override {
    plan.view_version = view.version;
    free_milli_.clear();
    free_mib_.clear();
    for (const DeviceState& device : view.devices) {
      free_milli_.push_back(device.up ? device.free_milli : 0);
      free_mib_.push_back(device.free_memory_mib);
    }
    bool more = false;
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      const JobState& state = view.states[j];
      if (state.ended()) continue;
      more = true;
      act(view, JobId{j}, rng, plan);
      if (state.status != JobStatus::kPending) continue;
      plan.reasons.push_back({JobId{j}, {.code = ReasonCode::kOrderedLater}});
    }
    // So that a run always goes on.
    if (more) {
      plan.wake_us = view.now_us + static_cast<TimeUs>(1 + rng.below(400'000));
    }
  }
  void drop_caches() override {}

 private:
  void act(const ClusterView& view, JobId id, Rng& rng, Plan& plan) {
    const Job& job = view.job(id);
    if (view.state(id).status == JobStatus::kPending) {
      if (rng.chance(0.7)) start_some(view, id, rng, plan);
      return;
    }
    const double what = std::fmod(rng.uniform() + all_reports(view, id), 1.0);
    if (what < 0.02) {
      plan.actions.push_back({.kind = ActionKind::kPreemptJob, .job = id, .to = {}});
    } else if (what < 0.05) {
      const auto replica = static_cast<std::uint32_t>(rng.below(job.replicas));
      const auto first = view.placements_of(id)[replica * job.partitions()];
      if (!first.server.valid()) return;
      plan.actions.push_back(
          {.kind = ActionKind::kPreemptReplica, .job = id, .to = {}, .value = replica});
    } else if (what < 0.10) {
      move_one(view, id, rng, plan);
    } else if (what < 0.12) {
      plan.actions.push_back({.kind = ActionKind::kStopJob,
                              .job = id,
                              .to = {},
                              .value = static_cast<std::int64_t>(rng.below(80))});
    } else if (what < 0.14) {
      plan.actions.push_back({.kind = ActionKind::kSetStop,
                              .job = id,
                              .to = {},
                              .value = static_cast<std::int64_t>(random_stop(rng))});
    } else if (what < 0.20) {
      copy_one(view, id, rng, plan);
    } else if (what < 0.22) {
      drop_one(view, id, rng, plan);
    } else if (what < 0.38) {
      start_some(view, id, rng, plan);
    }
  }

  // Everything that the job reports, in one number: what is done depends on each of it.
  static double all_reports(const ClusterView& view, JobId id) {
    const Telemetry& reports = *view.telemetry;
    const std::int64_t done = reports.iterations(id).value_or(0);
    const auto use = reports.use(id, 0);
    double sum = static_cast<double>(done) / 7.0;
    sum += reports.iterations_per_s(id).value_or(0.3);
    sum += reports.best_replica_iterations_per_s(id).value_or(0.3);
    sum += reports.loss(id, done).value_or(0.3) + reports.accuracy(id, done / 2).value_or(0.3);
    sum += reports.loss(id, done + 1).value_or(0.1) + (use ? use->sm_ppm / 1e6 : 0.3);
    const auto speed = reports.device_speed(DeviceId{some_device(id, view)});
    sum += speed ? speed->part + static_cast<double>(speed->since_us) / 1e6 : 0.3;
    return sum;
  }

  // By the id alone.
  static std::uint32_t some_device(JobId id, const ClusterView& view) {
    return static_cast<std::uint32_t>(id.index() % view.devices.size());
  }

  // A place with room for a task, or an invalid one.
  Placement place_for(const ClusterView& view, const Job& job, std::uint32_t task, Rng& rng) {
    if (!job.is_worker(task) || job.gpu_milli_per_task == 0) {
      const ServerId server{rng.below(view.servers.size())};
      return view.servers[server.index()].up ? Placement{server, {}} : Placement{};
    }
    const auto start = rng.below(free_milli_.size());
    for (std::size_t i = 0; i < free_milli_.size(); ++i) {
      const std::size_t d = (start + i) % free_milli_.size();
      const Device& device = view.cluster->devices[d];
      if (!view.servers[device.server.index()].up) continue;
      if ((job.gpu_types >> device.type.value & 1U) == 0) continue;
      if (free_milli_[d] < job.gpu_milli_per_task) continue;
      if (free_mib_[d] < job.gpu_memory_mib_per_task) continue;
      free_milli_[d] -= job.gpu_milli_per_task;
      free_mib_[d] -= job.gpu_memory_mib_per_task;
      return {device.server, DeviceId{d}};
    }
    return {};
  }

  void start_some(const ClusterView& view, JobId id, Rng& rng, Plan& plan) {
    const Job& job = view.job(id);
    const bool pending = view.state(id).status == JobStatus::kPending;
    const auto places = view.placements_of(id);
    if (places.empty()) return;
    std::vector<Action> actions;
    const auto runs = [&](std::uint32_t task) { return !pending && places[task].server.valid(); };
    for (std::uint32_t r = 0; r < job.replicas; ++r) {
      if (runs(r * job.partitions()) || rng.chance(0.4)) continue;
      std::vector<Action> replica;
      for (std::uint32_t k = r * job.partitions(); k < (r + 1) * job.partitions(); ++k) {
        if (runs(k)) continue;
        const Placement at = place_for(view, job, k, rng);
        if (!at.server.valid()) break;
        replica.push_back({.kind = ActionKind::kStartTask, .job = id, .task = k, .to = at});
      }
      // What was taken for a replica that does not fit stays unused in this round.
      if (whole_ && replica.size() < job.partitions()) continue;
      actions.insert(actions.end(), replica.begin(), replica.end());
    }
    if (actions.empty()) return;
    if (job.parameter_servers > 0 && !runs(job.workers())) {
      const Placement at = place_for(view, job, job.workers(), rng);
      if (!at.server.valid()) return;
      actions.push_back(
          {.kind = ActionKind::kStartTask, .job = id, .task = job.workers(), .to = at});
    }
    plan.actions.insert(plan.actions.end(), actions.begin(), actions.end());
  }

  void move_one(const ClusterView& view, JobId id, Rng& rng, Plan& plan) {
    const Job& job = view.job(id);
    const auto task = static_cast<std::uint32_t>(rng.below(job.tasks));
    if (!view.placements_of(id)[task].server.valid()) return;
    const Placement to = place_for(view, job, task, rng);
    if (!to.server.valid()) return;
    plan.actions.push_back({.kind = ActionKind::kMoveTask, .job = id, .task = task, .to = to});
  }

  void copy_one(const ClusterView& view, JobId id, Rng& rng, Plan& plan) {
    const Job& job = view.job(id);
    const auto task = static_cast<std::uint32_t>(rng.below(job.workers()));
    const Placement own = view.placements_of(id)[task];
    if (!own.device.valid()) return;
    const Placement to = place_for(view, job, task, rng);
    std::size_t others = 0;
    bool taken = to.server == own.server;
    for (const TaskCopy& copy : copies_of(view.copies, id)) {
      if (copy.task != task) continue;
      ++others;
      taken = taken || copy.at.server == to.server;
    }
    if (!to.server.valid() || taken || others == kMostTaskCopies) return;
    plan.actions.push_back({.kind = ActionKind::kCopyTask, .job = id, .task = task, .to = to});
  }

  static void drop_one(const ClusterView& view, JobId id, Rng& rng, Plan& plan) {
    const auto copies = copies_of(view.copies, id);
    if (copies.empty()) return;
    const TaskCopy& copy = copies[rng.below(copies.size())];
    plan.actions.push_back(
        {.kind = ActionKind::kDropCopy, .job = id, .task = copy.task, .to = copy.at});
  }

  bool whole_;
  std::vector<std::int64_t> free_milli_;
  std::vector<std::int64_t> free_mib_;
};

class Scripted final : public Policy {
 public:
  explicit Scripted(std::vector<Step> steps) : steps_(std::move(steps)) {}

  void decide(const ClusterView& view, const Predictors& /*predictors*/, Rng& /*rng*/,
              Plan& plan) override {
    plan.view_version = view.version;
    for (const Step& step : steps_) {
      if (step.at_us == view.now_us) {
        plan.actions.insert(plan.actions.end(), step.actions.begin(), step.actions.end());
      }
      if (step.at_us > view.now_us) plan.wake_us = std::min(plan.wake_us, step.at_us);
    }
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      plan.reasons.push_back({JobId{j}, {.code = ReasonCode::kOrderedLater}});
    }
  }
  void drop_caches() override {}

 private:
  std::vector<Step> steps_;
};

}  // namespace

Cluster random_training_cluster(Rng& rng) {
  Cluster cluster;
  const auto types = 1 + rng.below(2);
  for (std::uint64_t t = 0; t < types; ++t) {
    cluster.gpu_types.push_back({.name = std::string(1, static_cast<char>('A' + t)),
                                 .memory_mib = rng.chance(0.5) ? 16'000 : 0,
                                 .speed_milli = t == 0 ? 1000 : rng.uniform_int(300, 2500)});
  }
  const auto servers = 1 + rng.below(5);
  for (std::uint64_t s = 0; s < servers; ++s) {
    ResourceVector capacity;
    if (rng.chance(0.8)) capacity[Resource::kCpuMilli] = rng.uniform_int(2'000, 16'000);
    if (rng.chance(0.8)) capacity[Resource::kMemoryMib] = rng.uniform_int(4'000, 16'000);
    if (rng.chance(0.8)) capacity[Resource::kNetBytesPerS] = rng.uniform_int(1'000'000, 20'000'000);
    cluster.add_server("s" + std::to_string(s),
                       GpuTypeId{static_cast<std::uint32_t>(rng.below(types))},
                       static_cast<std::uint32_t>(1 + rng.below(4)), capacity);
  }
  return cluster;
}

Workload random_training(Rng& rng, const Cluster& cluster) {
  Workload out;
  const auto count = 1 + rng.below(12);
  TimeUs now_us = 0;
  for (std::uint64_t j = 0; j < count; ++j) {
    now_us += static_cast<TimeUs>(rng.below(8)) * 250'000;
    Job job;
    job.submit_us = now_us;
    job.replicas = static_cast<std::uint32_t>(rng.chance(0.5) ? 1 : 1 + rng.below(4));
    const auto partitions = static_cast<std::uint32_t>(1 + rng.below(4));
    const auto comm = static_cast<CommStructure>(rng.below(3));
    job.parameter_servers = comm == CommStructure::kParameterServer ? 1 : 0;
    job.tasks = job.replicas * partitions + job.parameter_servers;
    if (rng.chance(0.4)) job.gpu_milli_per_task = static_cast<std::uint32_t>(1 + rng.below(1000));
    if (rng.chance(0.1)) job.gpu_milli_per_task = 0;
    if (rng.chance(0.3)) job.gpu_memory_mib_per_task = static_cast<std::uint32_t>(rng.below(9000));
    if (rng.chance(0.3)) job.cpu_milli_per_task = static_cast<std::uint32_t>(rng.below(3000));
    job.graph = TaskGraphId{out.graphs.size()};
    out.graphs.push_back(random_graph(rng, partitions, comm));
    if (rng.chance(0.5)) job.deadline_us = now_us + static_cast<TimeUs>(rng.below(30'000'000));
    if (rng.chance(0.5)) job.required_accuracy_ppm = static_cast<std::int32_t>(rng.below(900'000));
    job.stop = random_stop(rng);
    TrainingTruth truth;
    truth.iterations = static_cast<std::int64_t>(rng.below(100));
    truth.first_use = static_cast<std::uint32_t>(out.training.uses.size());
    truth.load_us = rng.chance(0.5) ? static_cast<TimeUs>(rng.below(2'000'000)) : 0;
    truth.checkpoint_us = static_cast<TimeUs>(rng.below(500'000));
    truth.checkpoint_iterations = static_cast<std::int64_t>(rng.below(8));
    truth.checkpoint_on_stop = rng.chance(0.5);
    truth.state_bytes = static_cast<std::int64_t>(rng.below(5'000'000));
    truth.curve = random_curve(rng);
    job.max_iterations = truth.iterations;
    add_uses(rng, job, out.training.uses);
    out.training.jobs.push_back(truth);
    out.truths.push_back({truth.iterations * 500'000});
    out.names.push_back("job");
    out.jobs.push_back(job);
  }
  (void)cluster;
  return out;
}

std::vector<FaultEvent> random_faults(Rng& rng, const Cluster& cluster) {
  FaultProcess process;
  if (rng.chance(0.7)) process.server_between_us = 20 * kUsPerS;
  process.server_repair_us = 4 * kUsPerS;
  if (rng.chance(0.7)) process.device_between_us = 30 * kUsPerS;
  process.device_repair_us = 4 * kUsPerS;
  if (rng.chance(0.7)) process.slow_between_us = 10 * kUsPerS;
  process.slow_for_us = 5 * kUsPerS;
  return draw_faults(process, cluster, 60 * kUsPerS, rng.fork("faults"));
}

std::unique_ptr<Policy> senseless_policy(bool whole) {
  return std::make_unique<Senseless>(whole);
}

Cluster servers_of(const std::vector<std::uint32_t>& gpus, std::int64_t link_bytes_per_s) {
  Cluster cluster;
  cluster.gpu_types.push_back({});
  ResourceVector capacity;
  capacity[Resource::kNetBytesPerS] = link_bytes_per_s;
  for (const std::uint32_t count : gpus) {
    cluster.add_server("s" + std::to_string(cluster.servers.size()), GpuTypeId{0U}, count,
                       capacity);
  }
  return cluster;
}

std::unique_ptr<Policy> scripted_policy(std::vector<Step> steps) {
  return std::make_unique<Scripted>(std::move(steps));
}

}  // namespace berth::testing
