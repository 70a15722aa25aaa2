#include "policy/mlf_h_literal/mlf_h_literal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "place/ideal_server.h"
#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/overload.h"
#include "policy/common/refused_demands.h"
#include "policy/common/remaining.h"
#include "policy/common/replicas.h"
#include "policy/mlf_h_literal/formulas.h"

namespace berth {
namespace {

// The factor of eq. 2 that is learned from reports.
void read_losses(const ClusterView& view, JobId id, LiteralFacts& facts) {
  if (view.telemetry == nullptr) return;
  const std::int64_t done = view.telemetry->iterations(id).value_or(0);
  if (done < 1) return;
  const auto first = view.telemetry->loss(id, 0);
  const auto before = view.telemetry->loss(id, done - 1);
  const auto now = view.telemetry->loss(id, done);
  if (!first || !before || !now) return;
  facts.iteration = done + 1;
  facts.last_reduction = *first > *now ? (*before - *now) / (*first - *now) : 0.0;
}

LiteralFacts facts_of(const ClusterView& view, const Predictors& predictors, JobId id) {
  const Job& job = view.job(id);
  LiteralFacts facts{.urgency = static_cast<double>(job.urgency)};
  read_losses(view, id, facts);
  if (job.deadline_us.known()) facts.until_deadline_us = job.deadline_us.value() - view.now_us;
  facts.remaining_us = remaining_us(view, predictors, id, view.now_us);
  return facts;
}

const TaskGraph* graph_of(const ClusterView& view, const Job& job) {
  return job.graph.valid() ? &view.graphs[job.graph.index()] : nullptr;
}

// By task; 0 for those that are placed.
std::vector<TimeUs> waits_of(const ClusterView& view, JobId id) {
  const Job& job = view.job(id);
  const JobState& state = view.state(id);
  const TimeUs waited_us = std::max<TimeUs>(0, view.now_us - waits_since(job, state));
  std::vector<TimeUs> out(job.tasks, waited_us);
  if (state.status != JobStatus::kRunning) return out;
  const auto places = view.placements_of(id);
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    if (places[k].server.valid()) out[k] = 0;
  }
  return out;
}

class MlfHLiteral final : public CachedPolicy {
 public:
  MlfHLiteral(const LiteralWeights& weights, const IdealServerRules& places,
              const ReliefRules& relief)
      : weights_(weights), servers_(free_, places), relief_(free_, places, relief) {}

  // Of the task that goes first; a sum of four parts, as eq. 3 and 5 add up too.
  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId id,
                      std::vector<PriorityTerm>& out) const override {
    const Job& job = view.job(id);
    const LiteralFacts facts = facts_of(view, predictors, id);
    const std::vector<TimeUs> waits = waits_of(view, id);
    std::vector<double> values;
    const auto values_with = [&](const LiteralWeights& weights, const LiteralFacts& some) {
      literal_priorities(weights, job, graph_of(view, job), some, waits, values);
    };
    values_with(weights_, facts);
    const auto best = std::ranges::max_element(values.begin(), values.begin() + job.workers());
    const auto task = static_cast<std::size_t>(best - values.begin());
    const LiteralWeights none{
        .alpha = weights_.alpha, .gamma = weights_.gamma, .gamma_d = 0, .gamma_r = 0, .gamma_w = 0};
    LiteralFacts no_learning = facts;
    no_learning.urgency = 0.0;
    const auto add = [&](std::string_view name, double LiteralWeights::*weight) {
      LiteralWeights one = none;
      if (weight != nullptr) one.*weight = weights_.*weight;
      values_with(one, weight != nullptr ? no_learning : facts);
      out.push_back({name, values[task]});
    };
    add("urgency, loss and size", nullptr);
    add("deadline", &LiteralWeights::gamma_d);
    add("remaining time", &LiteralWeights::gamma_r);
    add("waiting time", &LiteralWeights::gamma_w);
  }

 protected:
  void reset(const Round& /*round*/) override {
    running_.clear();
    wanting_.clear();
  }
  void file_job(const Round& round, JobId id) override {
    running_.grow(round.view.jobs.size());
    wanting_.grow(round.view.jobs.size());
    running_.erase(id.value);
    wanting_.erase(id.value);
    const JobState& state = round.view.state(id);
    const bool runs = state.status == JobStatus::kRunning;
    if (runs) running_.insert(id.value);
    if (runs ? state.tasks_placed < round.view.job(id).tasks : waits_for_places(round, id)) {
      wanting_.insert(id.value);
    }
  }
  void make_plan(const Round& round) override {
    touched_.clear();
    relieve(round);
    place_waiting(round);
    wanting_.for_each([&](std::uint32_t j) {
      if (round.view.states[j].status != JobStatus::kPending || touched_.contains(j)) return;
      give_reason(round, JobId{j}, shortage(round.view.job(JobId{j})));
    });
  }
  // Task by task, as everything.
  [[nodiscard]] bool regrows() const override { return false; }

 private:
  struct Waiting {
    double priority = 0.0;
    JobId job;
    std::uint32_t task = 0;
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      return a.job != b.job ? a.job < b.job : a.task < b.task;
    }
  };
  // A sum over a long graph may be too large for a number, and two of them of no sign.
  static double finite(double priority) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return std::isnan(priority) ? -kMost : std::clamp(priority, -kMost, kMost);
  }

  void compute_priorities(const Round& round, JobId id) {
    const Job& job = round.view.job(id);
    literal_priorities(weights_, job, graph_of(round.view, job),
                       facts_of(round.view, round.predictors, id), waits_of(round.view, id),
                       priorities_);
  }

  // Where a task of a job is, this plan included; invalid: it is not.
  [[nodiscard]] Placement place_now(const ClusterView& view, JobId id, std::uint32_t task) const {
    if (const auto at = touched_.find(id.value); at != touched_.end()) return at->second[task];
    const bool runs = view.state(id).status == JobStatus::kRunning;
    return runs ? view.placements_of(id)[task] : Placement{};
  }
  void set_place(const ClusterView& view, JobId id, std::uint32_t task, const Placement& to) {
    const auto [at, fresh] = touched_.try_emplace(id.value);
    if (fresh) {
      at->second.resize(view.job(id).tasks);
      const bool runs = view.state(id).status == JobStatus::kRunning;
      if (runs) std::ranges::copy(view.placements_of(id), at->second.begin());
    }
    at->second[task] = to;
  }

  void relieve(const Round& round) {
    const OverloadRelief::AskStanding standing = [&](JobId id, std::uint32_t task) {
      compute_priorities(round, id);
      return OverloadRelief::Standing{finite(priorities_[task]), 0};
    };
    const auto found = relief_.find(round.view, running_, standing);
    std::vector<OverloadRelief::Move> moves(found.begin(), found.end());
    // Moves of one job happen at once, in the order of its tasks.
    std::ranges::sort(
        moves, {}, [](const OverloadRelief::Move& move) { return std::pair(move.job, move.task); });
    for (const auto& [job, task, to] : moves) {
      set_place(round.view, job, task, to);
      const ActionKind kind = to.server.valid() ? ActionKind::kMoveTask : ActionKind::kPreemptTask;
      round.plan.actions.push_back({.kind = kind, .job = job, .task = task, .to = to});
      file_again(job);
    }
  }

  void place_waiting(const Round& round) {
    std::vector<Waiting> waiting;
    wanting_.for_each([&](std::uint32_t j) { list_waiting(round, JobId{j}, waiting); });
    std::sort(waiting.begin(), waiting.end());
    RefusedDemands refused;
    std::vector<std::pair<JobId, TaskPlace>> starts;
    for (const Waiting& next : waiting) {
      const Placement place = place_for(round.view, next, refused);
      if (!place.server.valid()) continue;
      set_place(round.view, next.job, next.task, place);
      starts.push_back({next.job, {next.task, place}});
    }
    std::ranges::sort(starts, {},
                      [](const auto& start) { return std::pair(start.first, start.second.task); });
    for (const auto& [job, start] : starts) {
      round.plan.actions.push_back(
          {.kind = ActionKind::kStartTask, .job = job, .task = start.task, .to = start.to});
      file_again(job);
    }
  }

  void list_waiting(const Round& round, JobId id, std::vector<Waiting>& out) {
    compute_priorities(round, id);
    const auto places = round.view.placements_of(id);
    const bool runs = round.view.state(id).status == JobStatus::kRunning;
    for (std::uint32_t k = 0; k < priorities_.size(); ++k) {
      if (runs && places[k].server.valid()) continue;
      out.push_back({finite(priorities_[k]), id, k});
    }
  }

  // Takes it. Invalid if no server has room.
  Placement place_for(const ClusterView& view, const Waiting& next, RefusedDemands& refused) {
    const Job& job = view.job(next.job);
    const auto before = view.placements_of(next.job);
    const bool has_run = view.state(next.job).last_start_us != kNever;
    const ServerId was_on = has_run ? before[next.task].server : ServerId{};
    add_traffic(view, next);
    if (!job.is_worker(next.task) || job.gpu_milli_per_task == 0) {
      return {servers_.choose_without_gpu(*view.cluster, job, was_on, false), {}};
    }
    Job task = job;
    task.replicas = task.tasks = 1;
    task.parameter_servers = 0;
    if (refused.contains(task)) return {};
    servers_.list(*view.cluster, task, 1);
    const Placement place = servers_.choose(task, was_on);
    if (place.server.valid()) {
      servers_.take(task, place);
    } else {
      refused.add(task);
    }
    return place;
  }
  void add_traffic(const ClusterView& view, const Waiting& next) {
    servers_.clear_traffic();
    const Job& job = view.job(next.job);
    traffic_.read(job, graph_of(view, job));
    traffic_.for_each_peer(next.task, [&](std::uint32_t peer, std::int64_t bytes) {
      const ServerId server = place_now(view, next.job, peer).server;
      if (server.valid()) servers_.add_traffic(server, bytes);
    });
  }

  LiteralWeights weights_;
  IdealServer servers_;
  OverloadRelief relief_;
  TaskTraffic traffic_;
  IdSet running_;  // some task of theirs
  IdSet wanting_;  // some task of theirs waits
  // By JobId, of those that this plan changes: where their tasks are.
  std::map<std::uint32_t, std::vector<Placement>> touched_;
  std::vector<double> priorities_;  // scratch
};

}  // namespace

Result<std::unique_ptr<Policy>> make_mlf_h_literal(std::span<const PolicyOption> options) {
  LiteralWeights weights;
  IdealServerRules places{.movement_weight = 1.0};
  double share = 0.1;
  const NumberSetting numbers[] = {{"alpha", &weights.alpha, 0, 1},
                                   {"gamma", &weights.gamma, 0, 1},
                                   {"gamma_d", &weights.gamma_d, 0, 1000},
                                   {"gamma_r", &weights.gamma_r, 0, 1000},
                                   {"gamma_w", &weights.gamma_w, 0, 1000},
                                   {"h_r", &places.most_use, 0.05, 1},
                                   {"p_s", &share, 0, 1}};
  BERTH_CHECK_OK(read_options("mlf-h-literal", options, numbers));
  return std::make_unique<MlfHLiteral>(weights, places,
                                       ReliefRules::as_published(places.most_use, share));
}

}  // namespace berth
