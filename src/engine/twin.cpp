#include "engine/twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/contention.h"
#include "engine/iteration.h"
#include "engine/network.h"
#include "engine/progress.h"
#include "policy/common/cached_policy.h"

namespace berth {
namespace {

struct TwinCopy {
  std::uint32_t task = 0;
  Placement at;
  TimeUs since_us = 0;
  TimeUs ready_us = 0;
};

struct TwinJob {
  JobState state;
  StopOption stop = StopOption::kIterations;
  WorkUnits done = 0;
  WorkUnits rate = 0;               // from this instant on
  Picoseconds least_iteration = 0;  // of a replica, ever
  std::int64_t saved = 0;           // iterations in the last checkpoint
  std::int64_t limit = INT64_MAX;   // by a stop decision
  bool ran = false;
  bool owes_checkpoint = false;
  std::vector<Placement> places;  // invalid: the task does not run
  std::vector<Placement> last;    // where tasks ran when the job last left
  std::vector<TimeUs> ready_us;   // by replica; kNever: not complete
  std::vector<TwinCopy> copies;   // the oldest first
  Reason reason{.code = ReasonCode::kNotConsidered};
};

class Twin {
 public:
  Twin(const Cluster& cluster, const Workload& workload, Policy& policy, Predictors& predictors,
       const SimulationOptions& options)
      : cluster_(cluster),
        workload_(workload),
        policy_(policy),
        predictors_(predictors),
        options_(options),
        rng_(Rng(options.seed).fork("policy")),
        log_(*options.log),
        timer_(cluster),
        jobs_(workload.jobs.size()),
        server_up_(cluster.servers.size(), true),
        device_up_(cluster.gpus(), true),
        device_speed_ppm_(cluster.gpus(), 1'000'000),
        device_speed_since_us_(cluster.gpus()) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      jobs_[j].stop = workload.jobs[j].stop;
      jobs_[j].places.resize(workload.jobs[j].tasks);
      jobs_[j].ready_us.assign(workload.jobs[j].replicas, kNever);
    }
  }

  Status run() {
    while (true) {
      if (all_is_over()) return {};
      work_out_rates();
      const TimeUs next_us = next_instant();
      if (next_us == kNever) return {};
      for (TwinJob& job : jobs_) {
        if (job.state.status != JobStatus::kRunning) continue;
        const auto j = static_cast<std::size_t>(&job - jobs_.data());
        job.done =
            std::max(job.done, std::min(target(j), job.done + job.rate * (next_us - now_us_)));
      }
      now_us_ = next_us;
      bool news = wake_us_ == now_us_;
      for (std::size_t j = 0; j < jobs_.size(); ++j) news = complete_if_due(j) || news;
      for (const FaultEvent& fault : options_.faults) {
        if (fault.at_us != now_us_ || fault_is_past(fault)) continue;
        apply_fault(fault);
        news = true;
      }
      for (std::size_t j = arrived_; j < jobs_.size(); ++j) {
        if (workload_.jobs[j].submit_us != now_us_) continue;
        arrived_ = j + 1;
        log_.record(now_us_, EventKind::kArrive, static_cast<std::uint32_t>(j));
        news = true;
      }
      if (news) BERTH_CHECK_OK(decide());
    }
  }

 private:
  class Reports final : public Telemetry {
   public:
    explicit Reports(const Twin& twin) : twin_(twin) {}
    [[nodiscard]] std::optional<std::int64_t> iterations(JobId job) const override {
      if (!alive(job)) return std::nullopt;
      return iterations_of(of(job).done);
    }
    [[nodiscard]] std::optional<double> iterations_per_s(JobId job) const override {
      if (!alive(job) || of(job).state.status != JobStatus::kRunning) return std::nullopt;
      return per_s_of(of(job).rate);
    }
    [[nodiscard]] std::optional<double> best_replica_iterations_per_s(JobId job) const override {
      if (!alive(job) || of(job).least_iteration == 0) return std::nullopt;
      return per_s_of(of(job).least_iteration);
    }
    [[nodiscard]] std::optional<double> loss(JobId job, std::int64_t iteration) const override {
      if (!reached(job, iteration)) return std::nullopt;
      return twin_.truth(job.index())->curve.loss(iteration);
    }
    [[nodiscard]] std::optional<double> accuracy(JobId job, std::int64_t iteration) const override {
      if (!reached(job, iteration)) return std::nullopt;
      return twin_.truth(job.index())->curve.accuracy(iteration);
    }
    [[nodiscard]] std::optional<TaskUse> use(JobId job, std::uint32_t task) const override {
      if (!alive(job) || of(job).state.first_start_us == kNever ||
          task >= twin_.spec(job.index()).tasks) {
        return std::nullopt;
      }
      return *twin_.use(job.index(), task);
    }
    [[nodiscard]] std::optional<DeviceSpeed> device_speed(DeviceId device) const override {
      return DeviceSpeed{static_cast<double>(twin_.device_speed_ppm_[device.index()]) / 1e6,
                         twin_.device_speed_since_us_[device.index()]};
    }

   private:
    [[nodiscard]] const TwinJob& of(JobId job) const { return twin_.jobs_[job.index()]; }
    [[nodiscard]] bool alive(JobId job) const {
      return twin_.truth(job.index()) != nullptr && !of(job).state.ended();
    }
    [[nodiscard]] bool reached(JobId job, std::int64_t iteration) const {
      return alive(job) && iteration >= 0 && iteration <= iterations_of(of(job).done);
    }
    const Twin& twin_;
  };

  [[nodiscard]] const Job& spec(std::size_t j) const { return workload_.jobs[j]; }
  [[nodiscard]] const TrainingTruth* truth(std::size_t j) const {
    return workload_.training.jobs.empty() ? nullptr : &workload_.training.jobs[j];
  }
  [[nodiscard]] const TaskUse* use(std::size_t j, std::uint32_t task) const {
    return truth(j) == nullptr ? nullptr : &workload_.training.uses[truth(j)->first_use + task];
  }
  // Faults of one instant are applied once, in order.
  [[nodiscard]] bool fault_is_past(const FaultEvent& fault) {
    const auto index = static_cast<std::size_t>(&fault - options_.faults.data());
    if (index < faults_done_) return true;
    faults_done_ = index + 1;
    return false;
  }

  [[nodiscard]] std::int64_t given(std::size_t j) const {
    return truth(j) == nullptr ? workload_.truths[j].work_us : truth(j)->iterations;
  }
  [[nodiscard]] WorkUnits target(std::size_t j) const {
    std::int64_t iterations = given(j);
    if (truth(j) != nullptr && jobs_[j].stop == StopOption::kAccuracy &&
        spec(j).required_accuracy_ppm >= 0) {
      const LearningCurve& curve = truth(j)->curve;
      iterations = curve.first_reaching(spec(j).required_accuracy_ppm / 1e6, iterations)
                       .value_or(iterations);
    } else if (truth(j) != nullptr && jobs_[j].stop == StopOption::kOptStop) {
      iterations = truth(j)->curve.opt_stop_iteration(iterations);
    }
    return units_of(std::min(iterations, jobs_[j].limit));
  }

  [[nodiscard]] bool placed(std::size_t j, std::uint32_t task) const {
    return jobs_[j].state.status == JobStatus::kRunning && jobs_[j].places[task].server.valid();
  }
  [[nodiscard]] std::uint32_t placed_of(std::size_t j, std::uint32_t replica) const {
    std::uint32_t count = 0;
    for (std::uint32_t k = 0; k < spec(j).partitions(); ++k) {
      count += placed(j, replica * spec(j).partitions() + k) ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] bool complete(std::size_t j, std::uint32_t replica) const {
    if (options_.progress_rule == ProgressRule::kPartial) return placed_of(j, replica) > 0;
    return placed_of(j, replica) == spec(j).partitions() &&
           (spec(j).parameter_servers == 0 || placed(j, spec(j).workers()));
  }
  [[nodiscard]] bool any_complete(std::size_t j) const {
    return std::ranges::any_of(jobs_[j].ready_us, [](TimeUs at) { return at != kNever; });
  }
  void renew_ready(std::size_t j, TimeUs ready_us) {
    for (std::uint32_t r = 0; r < spec(j).replicas; ++r) {
      if (!complete(j, r)) {
        jobs_[j].ready_us[r] = kNever;
      } else if (jobs_[j].ready_us[r] == kNever) {
        jobs_[j].ready_us[r] = ready_us;
      }
    }
    jobs_[j].ran = jobs_[j].ran || any_complete(j);
  }

  template <class Visit>
  void for_each_placed(Visit visit) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (std::uint32_t k = 0; k < spec(j).tasks; ++k) {
        if (placed(j, k)) visit(j, k, jobs_[j].places[k]);
      }
      for (const TwinCopy& copy : jobs_[j].copies) visit(j, copy.task, copy.at);
    }
  }

  // Every speed, from where every task is.
  void work_out_rates() {
    std::vector<DeviceUse> device_use(cluster_.gpus());
    std::vector<ServerUse> server_use(cluster_.servers.size());
    for_each_placed([&](std::size_t j, std::uint32_t k, const Placement& at) {
      if (use(j, k) == nullptr) return;
      server_use[at.server.index()].add(*use(j, k));
      if (at.device.valid()) device_use[at.device.index()].add(*use(j, k));
    });
    const auto slowdown = [&](std::size_t j, std::uint32_t k, const Placement& at) {
      std::int64_t factor = kOncePpm;
      if (at.device.valid()) {
        const GpuTypeId type = cluster_.devices[at.device.index()].type;
        factor = slowdown_of_speed(cluster_.gpu_types[type.index()].speed_milli,
                                   device_speed_ppm_[at.device.index()]);
      }
      if (use(j, k) == nullptr) return factor;
      if (at.device.valid()) {
        factor = times_ppm(factor, sharing_slowdown_ppm(*use(j, k), device_use[at.device.index()]));
      }
      return times_ppm(factor, overload_slowdown_ppm(*use(j, k), server_use[at.server.index()],
                                                     cluster_.servers[at.server.index()].capacity));
    };
    struct Sender {
      std::size_t job = 0;
      std::uint32_t replica = 0;
      Picoseconds pace = 0;
      std::vector<PairBytes> pairs;
    };
    std::vector<Sender> senders;
    std::vector<Flow> flows;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (std::uint32_t r = 0; r < spec(j).replicas; ++r) {
        if (jobs_[j].state.status != JobStatus::kRunning || jobs_[j].ready_us[r] == kNever)
          continue;
        Sender sender{j, r, 0, {}};
        std::vector<std::int64_t> slow;
        const std::uint32_t m = spec(j).partitions();
        for (std::uint32_t k = r * m; k < (r + 1) * m; ++k) {
          slow.push_back(placed(j, k) ? slowdown(j, k, jobs_[j].places[k]) : kOncePpm);
        }
        std::vector<CopyPace> copies;
        for (std::uint32_t k = 0; k < m; ++k) {
          for (const TwinCopy& copy : jobs_[j].copies) {
            if (copy.task != r * m + k || copy.ready_us > now_us_) continue;
            copies.push_back({k, copy.at.server, slowdown(j, copy.task, copy.at)});
          }
        }
        sender.pace = pace_of(j, r, slow, copies, sender.pairs);
        for (const PairBytes& pair : sender.pairs) {
          flows.push_back(
              {pair.server_a, pair.server_b, demand_bytes_per_s(pair.bytes, sender.pace)});
        }
        senders.push_back(std::move(sender));
      }
    }
    std::vector<std::int64_t> capacity;
    for (const Server& server : cluster_.servers) {
      capacity.push_back(server.capacity[Resource::kNetBytesPerS]);
    }
    std::vector<std::int64_t> rates;
    MaxMin().solve(flows, capacity, rates);
    for (TwinJob& job : jobs_) job.rate = 0;
    std::size_t flow = 0;
    for (const Sender& sender : senders) {
      Picoseconds iteration = sender.pace;
      for (const PairBytes& pair : sender.pairs) {
        if (rates[flow] < flows[flow].demand_bytes_per_s) {
          iteration = std::max(iteration, time_at_rate(pair.bytes, rates[flow]));
        }
        ++flow;
      }
      if (jobs_[sender.job].ready_us[sender.replica] <= now_us_) {
        jobs_[sender.job].rate += rate_of(iteration);
        Picoseconds& least = jobs_[sender.job].least_iteration;
        least = least == 0 ? iteration : std::min(least, iteration);
      }
    }
  }

  [[nodiscard]] Picoseconds pace_of(std::size_t j, std::uint32_t r, std::vector<std::int64_t> slow,
                                    const std::vector<CopyPace>& copies,
                                    std::vector<PairBytes>& pairs) {
    const Job& job = spec(j);
    if (!job.graph.valid()) {
      for (const CopyPace& copy : copies) {
        slow[copy.partition] = std::min(slow[copy.partition], copy.slowdown_ppm);
      }
      return *std::ranges::max_element(slow);
    }
    const std::span<const Placement> all = jobs_[j].places;
    ReplicaPlaces at;
    at.own = all.subspan(r * job.partitions(), job.partitions());
    const std::uint32_t next = (r + 1) % job.replicas;
    if (next != r && jobs_[j].ready_us[next] != kNever) {
      at.next = all.subspan(next * job.partitions(), job.partitions());
    }
    if (job.parameter_servers > 0) at.parameter_server = all.back();
    const TaskGraph& graph = workload_.graphs[job.graph.index()];
    Picoseconds pace = std::max<Picoseconds>(1, timer_.with_copies(graph, at, slow, copies, pairs));
    if (truth(j)->checkpoint_iterations > 0) {
      const auto checkpoint = static_cast<Int128>(truth(j)->checkpoint_us) * kPicosecondsPerUs;
      pace = bounded(pace + divide_up(checkpoint, truth(j)->checkpoint_iterations));
    }
    if (options_.progress_rule == ProgressRule::kPartial) {
      pace = bounded(static_cast<Int128>(pace) * job.partitions() / placed_of(j, r));
    }
    return pace;
  }

  // Nothing is to come but jobs that never fit.
  [[nodiscard]] bool all_is_over() const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].state.ended()) continue;
      if (j >= arrived_ || never_reason(cluster_, spec(j)).code == ReasonCode::kNone) return false;
    }
    return true;
  }

  [[nodiscard]] TimeUs next_instant() const {
    TimeUs next_us = wake_us_;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (j >= arrived_) next_us = std::min(next_us, workload_.jobs[j].submit_us);
      if (jobs_[j].state.status != JobStatus::kRunning || !any_complete(j)) continue;
      for (const TimeUs ready_us : jobs_[j].ready_us) {
        if (ready_us > now_us_) next_us = std::min(next_us, ready_us);
      }
      for (const TwinCopy& copy : jobs_[j].copies) {
        if (copy.ready_us > now_us_) next_us = std::min(next_us, copy.ready_us);
      }
      const TimeUs left_us = time_for(target(j) - jobs_[j].done, jobs_[j].rate);
      if (left_us < kNever) next_us = std::min(next_us, now_us_ + left_us);
    }
    if (faults_done_ < options_.faults.size()) {
      next_us = std::min(next_us, options_.faults[faults_done_].at_us);
    }
    return next_us;
  }

  void log(EventKind kind, std::size_t j) {
    log_.record(now_us_, kind, static_cast<std::uint32_t>(j), jobs_[j].places, copies_shown(j));
  }
  // As a view shows them.
  [[nodiscard]] std::vector<TaskCopy> copies_shown(std::size_t j) const {
    std::vector<TaskCopy> out;
    for (const TwinCopy& copy : jobs_[j].copies) {
      out.push_back({JobId{j}, copy.task, copy.at, copy.since_us});
    }
    std::ranges::stable_sort(out, {}, &TaskCopy::task);
    return out;
  }
  void log_plain(EventKind kind, std::size_t j) {
    log_.record(now_us_, kind, static_cast<std::uint32_t>(j));
  }

  void stop_running(TwinJob& job) const {
    job.state.attained_us += now_us_ - job.state.last_start_us;
    job.state.last_stop_us = now_us_;
    job.state.tasks_placed = 0;
    job.last = job.places;
    job.copies.clear();
    std::ranges::fill(job.ready_us, kNever);
  }

  bool complete_if_due(std::size_t j) {
    TwinJob& job = jobs_[j];
    if (job.state.status != JobStatus::kRunning || !any_complete(j) || job.done < target(j)) {
      return false;
    }
    const bool early = target(j) < units_of(given(j));
    end(j, early ? JobStatus::kStopped : JobStatus::kFinished,
        early ? EventKind::kStop : EventKind::kFinish);
    return true;
  }

  void end(std::size_t j, JobStatus status, EventKind kind) {
    if (jobs_[j].state.status == JobStatus::kRunning) stop_running(jobs_[j]);
    jobs_[j].state.last_stop_us = now_us_;
    jobs_[j].state.status = status;
    jobs_[j].reason = {};
    log_plain(kind, j);
  }

  void fall_back(std::size_t j, Departure why) {
    TwinJob& job = jobs_[j];
    const std::int64_t done = iterations_of(job.done);
    const TrainingTruth* training = truth(j);
    const bool writes =
        why == Departure::kPreempted && (training == nullptr || training->checkpoint_on_stop);
    if (writes) {
      job.saved = done;
    } else if (training != nullptr && training->checkpoint_iterations > 0) {
      const std::int64_t every = training->checkpoint_iterations;
      job.saved = std::max(job.saved, done / every * every);
    }
    job.owes_checkpoint = writes && training != nullptr;
    job.done = units_of(job.saved);
  }

  // The replica of this task, or everything: with the parameter server, or the last replica.
  [[nodiscard]] std::vector<std::uint32_t> leaving_with(std::size_t j, std::uint32_t task) const {
    const std::uint32_t m = spec(j).partitions();
    const bool worker = spec(j).is_worker(task);
    bool others = false;
    for (std::uint32_t r = 0; r < spec(j).replicas; ++r) {
      others = others || (jobs_[j].ready_us[r] != kNever && r != task / m);
    }
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t k = 0; k < spec(j).tasks; ++k) {
      const bool with_it = !worker || !others || (spec(j).is_worker(k) && k / m == task / m);
      if (with_it && placed(j, k)) tasks.push_back(k);
    }
    return tasks;
  }

  void remove(std::size_t j, const std::vector<std::uint32_t>& tasks, Departure why) {
    TwinJob& job = jobs_[j];
    const bool computed = any_complete(j);
    const std::vector<Placement> before = job.places;
    for (const std::uint32_t task : tasks) {
      job.places[task] = {};
      std::erase_if(job.copies, [&](const TwinCopy& copy) { return copy.task == task; });
    }
    renew_ready(j, kNever);
    if (computed && !any_complete(j)) fall_back(j, why);
    job.state.tasks_placed -= static_cast<std::uint32_t>(tasks.size());
    if (job.state.tasks_placed > 0) return log(EventKind::kShrink, j);
    job.places = before;
    stop_running(job);
    job.state.status = JobStatus::kPending;
    const bool evicted = why == Departure::kEvicted;
    ++(evicted ? job.state.evictions : job.state.preemptions);
    job.reason = {.code = evicted ? ReasonCode::kEvicted : ReasonCode::kPreempted};
    log_plain(evicted ? EventKind::kEvict : EventKind::kPreempt, j);
  }

  void apply_fault(const FaultEvent& fault) {
    constexpr std::pair<FaultKind, EventKind> kKinds[] = {
        {FaultKind::kServerDown, EventKind::kServerDown},
        {FaultKind::kServerUp, EventKind::kServerUp},
        {FaultKind::kDeviceDown, EventKind::kDeviceDown},
        {FaultKind::kDeviceUp, EventKind::kDeviceUp},
        {FaultKind::kDeviceSpeed, EventKind::kDeviceSpeed}};
    for (const auto& [kind, event] : kKinds) {
      if (kind == fault.kind) log_.record(now_us_, event, fault.id);
    }
    const bool server = fault.kind == FaultKind::kServerDown || fault.kind == FaultKind::kServerUp;
    const bool down = fault.kind == FaultKind::kServerDown || fault.kind == FaultKind::kDeviceDown;
    if (fault.kind == FaultKind::kDeviceSpeed) {
      device_speed_ppm_[fault.id] = fault.speed_ppm;
      device_speed_since_us_[fault.id] = now_us_;
    } else if (server) {
      server_up_[fault.id] = !down;
    } else {
      device_up_[fault.id] = !down;
    }
    if (!down) return;
    const auto hits = [&](const Placement& at) {
      return server ? at.server.value == fault.id : at.device.value == fault.id;
    };
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (const TaskCopy& copy : copies_shown(j)) {
        if (hits(copy.at)) drop_copy(j, copy.task, copy.at);
      }
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (std::uint32_t k = 0; k < spec(j).tasks; ++k) {
        if (!placed(j, k)) continue;
        if (hits(jobs_[j].places[k]) && !take_over(j, k)) {
          remove(j, leaving_with(j, k), Departure::kEvicted);
        }
      }
    }
  }

  void drop_copy(std::size_t j, std::uint32_t task, const Placement& at) {
    std::erase_if(jobs_[j].copies,
                  [&](const TwinCopy& other) { return other.task == task && other.at == at; });
    log(EventKind::kDropCopy, j);
  }

  bool take_over(std::size_t j, std::uint32_t task) {
    TwinJob& job = jobs_[j];
    const auto copy = std::ranges::find_if(job.copies, [&](const TwinCopy& other) {
      return other.task == task && other.ready_us <= now_us_;
    });
    if (copy == job.copies.end()) return false;
    job.places[task] = copy->at;
    job.copies.erase(copy);
    job.state.last_move_us = now_us_;
    log(EventKind::kTakeOver, j);
    return true;
  }

  // The part of a job's state that a task needs.
  [[nodiscard]] std::int64_t state_bytes(std::size_t j, std::uint32_t task) const {
    const std::int64_t bytes = truth(j)->state_bytes;
    if (!spec(j).is_worker(task) || !spec(j).graph.valid()) return bytes;
    const TaskGraph& graph = workload_.graphs[spec(j).graph.index()];
    const std::int64_t all = graph.parameters();
    const std::int64_t part = graph.tasks[task % spec(j).partitions()].parameters;
    return all <= 0 ? bytes / spec(j).partitions()
                    : static_cast<std::int64_t>(static_cast<Int128>(bytes) * part / all);
  }

  void copy(std::size_t j, const Action& action) {
    TwinJob& job = jobs_[j];
    const TimeUs task_ready_us = job.ready_us[action.task / spec(j).partitions()];
    TimeUs ready_us = task_ready_us == kNever ? now_us_ : std::max(now_us_, task_ready_us);
    if (truth(j) != nullptr) {
      const Picoseconds transfer = timer_.transfer(job.places[action.task].server, action.to.server,
                                                   state_bytes(j, action.task));
      ready_us += truth(j)->load_us + static_cast<TimeUs>(divide_up(transfer, kPicosecondsPerUs));
    }
    job.copies.push_back({action.task, action.to, now_us_, ready_us});
    log(EventKind::kCopy, j);
  }

  // Transfers and the checkpoint that is owed, on the way from `from` to where the tasks are now.
  [[nodiscard]] TimeUs resume_us(std::size_t j, const std::vector<std::uint32_t>& tasks,
                                 const std::vector<Placement>& from) {
    TwinJob& job = jobs_[j];
    const TrainingTruth* training = truth(j);
    if (training == nullptr || !job.ran) return 0;
    Picoseconds longest = 0;
    for (const std::uint32_t task : tasks) {
      if (task >= from.size() || !from[task].server.valid()) continue;
      longest = std::max(longest, timer_.transfer(from[task].server, job.places[task].server,
                                                  state_bytes(j, task)));
    }
    const TimeUs checkpoint_us = job.owes_checkpoint ? training->checkpoint_us : 0;
    job.owes_checkpoint = false;
    return static_cast<TimeUs>(divide_up(longest, kPicosecondsPerUs)) + checkpoint_us;
  }

  Status decide() {
    // Everything a view shows, from the jobs alone.
    std::vector<Job> specs(workload_.jobs.begin(),
                           workload_.jobs.begin() + static_cast<std::ptrdiff_t>(arrived_));
    std::vector<JobState> states;
    std::vector<Reason> reasons;
    std::vector<Placement> placements;
    std::vector<TaskCopy> copies;
    std::vector<DeviceState> devices(cluster_.gpus());
    std::vector<ServerState> servers;
    for (std::size_t s = 0; s < cluster_.servers.size(); ++s) {
      servers.push_back({cluster_.servers[s].capacity, server_up_[s]});
    }
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const GpuType& type = cluster_.gpu_types[cluster_.devices[d].type.index()];
      if (type.memory_mib > 0) devices[d].free_memory_mib = type.memory_mib;
      devices[d].up = device_up_[d];
    }
    for (std::size_t j = 0; j < arrived_; ++j) {
      const TwinJob& job = jobs_[j];
      states.push_back(job.state);
      reasons.push_back(job.reason);
      specs[j].stop = job.stop;
      specs[j].first_task = static_cast<std::uint32_t>(placements.size());
      if (specs[j].gpu_milli() > static_cast<std::int64_t>(cluster_.gpus()) * kWholeGpuMilli) {
        specs[j].first_task = Job::kNoTasks;
        continue;
      }
      placements.insert(placements.end(), job.places.begin(), job.places.end());
      for (const TaskCopy& copy : copies_shown(j)) copies.push_back(copy);
    }
    for_each_placed([&](std::size_t j, std::uint32_t k, const Placement& at) {
      servers[at.server.index()].free[Resource::kCpuMilli] -= spec(j).cpu_milli_per_task;
      servers[at.server.index()].free[Resource::kMemoryMib] -= spec(j).memory_mib_per_task;
      if (!at.device.valid() || !spec(j).is_worker(k)) return;
      DeviceState& device = devices[at.device.index()];
      device.free_milli -= spec(j).gpu_milli_per_task;
      device.free_memory_mib -= spec(j).gpu_memory_mib_per_task;
      ++device.tasks;
      servers[at.server.index()].free[Resource::kGpuMilli] -= spec(j).gpu_milli_per_task;
    });
    ClusterView view;
    view.version = ++version_;  // and no list of changes: whoever keeps anything reads all
    view.now_us = now_us_;
    view.cluster = &cluster_;
    view.jobs = specs;
    view.states = states;
    view.reasons = reasons;
    view.heads = heads_;
    view.placements = placements;
    view.copies = copies;
    view.devices = devices;
    view.servers = servers;
    view.graphs = workload_.graphs;
    const Reports reports(*this);
    view.telemetry = &reports;
    policy_.drop_caches();
    predictors_.follow(view);
    Plan plan;
    policy_.decide(view, predictors_, rng_, plan);
    return apply(plan);
  }

  void start(std::size_t j, const std::vector<std::uint32_t>& tasks,
             const std::vector<Placement>& at) {
    TwinJob& job = jobs_[j];
    const bool fresh = job.state.status == JobStatus::kPending;
    const bool computed = !fresh && any_complete(j);
    const std::vector<Placement> from = fresh ? job.last : job.places;
    if (fresh) {
      std::ranges::fill(job.places, Placement{});
      job.state.status = JobStatus::kRunning;
      job.state.last_start_us = now_us_;
      job.state.first_start_us = std::min(job.state.first_start_us, now_us_);
      job.reason = {};
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) job.places[tasks[i]] = at[i];
    job.state.tasks_placed += static_cast<std::uint32_t>(tasks.size());
    TimeUs ready_us = now_us_ + (truth(j) == nullptr ? 0 : truth(j)->load_us);
    if (!computed) ready_us += resume_us(j, tasks, from);
    renew_ready(j, ready_us);
    log(fresh ? EventKind::kStart : EventKind::kGrow, j);
  }

  void move(std::size_t j, const std::vector<std::uint32_t>& tasks,
            const std::vector<Placement>& to) {
    TwinJob& job = jobs_[j];
    const std::vector<Placement> from = job.places;
    bool others = false;
    bool paused = false;
    for (std::uint32_t r = 0; r < spec(j).replicas; ++r) {
      const bool moves = std::ranges::any_of(tasks, [&](std::uint32_t task) {
        return !spec(j).is_worker(task) || task / spec(j).partitions() == r;
      });
      if (job.ready_us[r] == kNever) continue;
      (moves ? paused : others) = true;
      if (moves) job.ready_us[r] = kNever;
    }
    if (paused && !others) fall_back(j, Departure::kPreempted);
    job.copies.clear();
    for (std::size_t i = 0; i < tasks.size(); ++i) job.places[tasks[i]] = to[i];
    job.state.last_move_us = now_us_;
    const TimeUs load_us = truth(j) == nullptr ? 0 : truth(j)->load_us;
    renew_ready(j, now_us_ + load_us + resume_us(j, tasks, from));
    log(EventKind::kMove, j);
  }

  void set_stop(std::size_t j, const Action& action) {
    if (action.kind == ActionKind::kSetStop) {
      jobs_[j].stop = static_cast<StopOption>(action.value);
    } else if (action.value > iterations_of(jobs_[j].done)) {
      jobs_[j].limit = std::min(jobs_[j].limit, action.value);
    } else {
      end(j, JobStatus::kStopped, EventKind::kStop);
    }
  }

  Status apply(const Plan& plan) {
    for (std::size_t i = 0; i < plan.actions.size();) {
      const Action& first = plan.actions[i];
      const std::size_t j = first.job.index();
      std::vector<std::uint32_t> tasks;
      std::vector<Placement> at;
      switch (first.kind) {
        case ActionKind::kStartTask:
        case ActionKind::kMoveTask:
          for (; i < plan.actions.size(); ++i) {
            if (plan.actions[i].kind != first.kind || plan.actions[i].job != first.job) break;
            tasks.push_back(plan.actions[i].task);
            at.push_back(plan.actions[i].to);
          }
          if (first.kind == ActionKind::kStartTask) {
            start(j, tasks, at);
          } else {
            move(j, tasks, at);
          }
          continue;
        case ActionKind::kPreemptJob:
          for (std::uint32_t k = 0; k < spec(j).tasks; ++k) {
            if (placed(j, k)) tasks.push_back(k);
          }
          remove(j, tasks, Departure::kPreempted);
          break;
        case ActionKind::kPreemptReplica: {
          const auto replica = static_cast<std::uint32_t>(first.value);
          remove(j, leaving_with(j, replica * spec(j).partitions()), Departure::kPreempted);
          break;
        }
        case ActionKind::kPreemptTask:
          remove(j, {first.task}, Departure::kPreempted);
          break;
        case ActionKind::kCopyTask:
          copy(j, first);
          break;
        case ActionKind::kDropCopy:
          drop_copy(j, first.task, first.to);
          break;
        case ActionKind::kStopJob:
        case ActionKind::kSetStop:
          set_stop(j, first);
          break;
      }
      ++i;
    }
    for (const ReasonUpdate& update : plan.reasons) {
      TwinJob& job = jobs_[update.job.index()];
      if (job.state.status == JobStatus::kPending) job.reason = update.reason;
    }
    for (const HeadUpdate& head : plan.heads) {
      if (heads_.size() <= head.slot) heads_.resize(head.slot + 1);
      heads_[head.slot] = head.job;
    }
    wake_us_ = plan.wake_us > now_us_ ? plan.wake_us : kNever;
    bool nothing_to_come = arrived_ == jobs_.size() && faults_done_ == options_.faults.size();
    for (const TwinJob& job : jobs_) {
      nothing_to_come = nothing_to_come && job.state.status != JobStatus::kRunning;
    }
    idle_wakes_ = plan.actions.empty() && nothing_to_come ? idle_wakes_ + 1 : 0;
    if (idle_wakes_ > kMostIdleWakes) wake_us_ = kNever;
    return {};
  }

  const Cluster& cluster_;
  const Workload& workload_;
  Policy& policy_;
  Predictors& predictors_;
  const SimulationOptions& options_;
  Rng rng_;
  EventLog& log_;
  IterationTimer timer_;
  std::vector<TwinJob> jobs_;
  std::vector<bool> server_up_;
  std::vector<bool> device_up_;
  std::vector<std::int64_t> device_speed_ppm_;
  std::vector<TimeUs> device_speed_since_us_;
  std::vector<JobId> heads_;
  Version version_ = 0;
  std::size_t arrived_ = 0;
  std::size_t faults_done_ = 0;
  TimeUs now_us_ = 0;
  TimeUs wake_us_ = kNever;
  int idle_wakes_ = 0;
};

}  // namespace

Status simulate_slowly(const Cluster& cluster, const Workload& workload, Policy& policy,
                       Predictors& predictors, const SimulationOptions& options) {
  return Twin(cluster, workload, policy, predictors, options).run();
}

}  // namespace berth
