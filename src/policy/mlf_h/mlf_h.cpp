#include "policy/mlf_h/mlf_h.h"

#include <algorithm>
#include <cmath>

#include "place/ideal_server.h"
#include "policy/common/overload.h"
#include "policy/common/progress.h"
#include "policy/common/ranked_policy.h"
#include "policy/common/remaining.h"
#include "policy/common/straggler_copies.h"
#include "policy/mlf_h/priority.h"
#include "policy/mlf_h/running_median.h"

namespace berth {
namespace {

// Where nothing is predicted.
constexpr TimeUs kUsualRun = kUsPerHour;
constexpr double kMostUrgent = 10;
constexpr double kMiddle = 0.5;  // of what is not stated

// Predicted run times of the jobs that came by an instant.
class SeenRunTimes {
 public:
  void clear() { *this = {}; }
  // The median; cheap while the instant does not go back.
  [[nodiscard]] TimeUs median_us(const ClusterView& view, const Predictors& predictors,
                                 TimeUs as_of_us) {
    if (as_of_us < as_of_us_) clear();
    as_of_us_ = as_of_us;
    for (; next_ < view.jobs.size() && view.jobs[next_].submit_us <= as_of_us; ++next_) {
      if (const auto us = predictors.run_time_us(JobId{next_})) median_.add(*us);
    }
    return median_.empty() ? kUsualRun : std::max<TimeUs>(1, median_.value());
  }

 private:
  RunningMedian median_;
  std::size_t next_ = 0;  // the first job that came later
  TimeUs as_of_us_ = 0;
};

double urgency_of(const Job& job) {
  return job.urgency == 0 ? kMiddle : std::min(1.0, job.urgency / kMostUrgent);
}

// Independent equal tasks, where no graph says more.
double size_of(const ClusterView& view, const Job& job, double gamma) {
  if (!job.graph.valid()) return 1.0 / std::max(1U, job.partitions());
  return best_size(view.graphs[job.graph.index()], gamma);
}

// Of a job that has done `part` iterations; like a new one where it does not report its loss.
double loss_after(const Telemetry& telemetry, JobId id, std::int64_t part) {
  if (part <= 0) return 1.0;
  const std::int64_t last = last_tenth(part);
  const auto first = telemetry.loss(id, 0);
  const auto before = telemetry.loss(id, part - last);
  const auto now = telemetry.loss(id, part);
  if (!first || !before || !now) return 1.0;
  return loss_factor(*first, *before, *now, last, part);
}

struct MigrationSettings {
  double migrates = 1;         // 0: overloaded servers stay so
  double straggler_speed = 0;  // of its best, below which a job is moved; 0: never
  double overloaded_rounds = 3;
  double cooldown_s = 1200;
  double move_cost_s = 60;
  ReliefRules relief;
  double straggler_copies = 0;
  double straggler_rounds = 3;
  CopyRules copies;
};

class MlfH final : public RankedPolicy {
 public:
  MlfH(const RankedSettings& settings, bool preempts, const MlfWeights& weights,
       const IdealServerRules& places, const MigrationSettings& migration)
      : RankedPolicy(settings, preempts),
        weights_(weights),
        most_(most_priority(weights)),
        placer_(free_, places),
        relief_rules_(migration.relief),
        straggler_speed_(migration.straggler_speed) {
    if (migration.migrates > 0) relief_.emplace(free_, places, migration.relief);
    if (migration.copies.most_copies > 0) copies_.emplace(free_, places, migration.copies);
  }

  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId id,
                      std::vector<PriorityTerm>& out) const override {
    SeenRunTimes seen;
    const TimeUs as_of_us = round_of(view.now_us);
    const MlfTerms terms = mlf_terms(
        weights_, facts(view, predictors, id, as_of_us, seen.median_us(view, predictors, as_of_us),
                        loss_after(view, id, reported_part(view, id)),
                        size_of(view, view.job(id), weights_.gamma)));
    out.push_back({"urgency, loss and size", terms.ml});
    out.push_back({"deadline", terms.deadline});
    out.push_back({"remaining time", terms.remaining});
    out.push_back({"waiting time", terms.waiting});
  }

 protected:
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const ClusterView& view = round.view;
    const std::int64_t part = reported_part(view, id);
    const double loss = losses_.get(id, part, [&] { return loss_after(view, id, part); });
    const TimeUs tau_us = seen_.median_us(view, round.predictors, as_of_us);
    const MlfTerms terms = mlf_terms(
        weights_, facts(view, round.predictors, id, as_of_us, tau_us, loss, size(view, id)));
    return std::llround((most_ - terms.sum()) * kUnit);
  }
  [[nodiscard]] bool running_ranks_follow_reports() const override { return weights_.loss > 0; }

  void forget() override {
    losses_.clear();
    sizes_.clear();
    seen_.clear();
  }

  Placer* placer(const Round& round) override {
    placer_.begin(round.view);
    return &placer_;
  }

  void tend_running(const Round& round) override {
    tend_once_a_round(round);
    if (copies_ && !waiting_jobs().empty()) copies_->lend(round.view);
  }
  void use_what_is_left(const Round& round) override {
    if (!copies_) return;
    copies_->take_back(round.view, round.plan);
    if (round_of(round.view.now_us) != round.view.now_us || !reports_use(round.view)) return;
    const StragglerCopies::AskRemaining remaining = [&](JobId id) {
      return remaining_or_usual_us(round, id);
    };
    copies_->renew(round.view, running_jobs(), remaining, round.plan);
  }

 private:
  void tend_once_a_round(const Round& round) {
    if (!(relief_ || straggler_speed_ > 0 || copies_) || !reports_use(round.view)) return;
    const TimeUs now_us = round.view.now_us;
    round.plan.wake_us = std::min(round.plan.wake_us, next_round(now_us));
    if (round_of(now_us) != now_us) return;
    if (relief_) relieve(round);
    if (straggler_speed_ > 0) move_stragglers(round);
  }
  [[nodiscard]] TimeUs remaining_or_usual_us(const Round& round, JobId id) {
    const TimeUs now_us = round.view.now_us;
    return remaining_us(round.view, round.predictors, id, now_us)
        .value_or(seen_.median_us(round.view, round.predictors, now_us));
  }
  void relieve(const Round& round) {
    const TimeUs now_us = round.view.now_us;
    const OverloadRelief::AskStanding standing = [&](JobId id, std::uint32_t /*task*/) {
      return OverloadRelief::Standing{most_ - static_cast<double>(rank(round, id, now_us)) / kUnit,
                                      remaining_or_usual_us(round, id)};
    };
    for (const auto& [job, task, to] : relief_->find(round.view, running_jobs(), standing)) {
      round.plan.actions.push_back(
          {.kind = ActionKind::kMoveTask, .job = job, .task = task, .to = to});
      leave_alone(job);
    }
  }
  // A whole job that has been where it is for a while, goes slower than it could by more than a
  // move costs, and has places elsewhere. Which of its tasks is slow nobody reports.
  void move_stragglers(const Round& round) {
    const ClusterView& view = round.view;
    const TimeUs cost_us = relief_rules_.cost_us.value_or(0);
    placer_.begin(view);
    running_jobs().for_each([&](std::uint32_t j) {
      const JobId id{j};
      const JobState& state = view.state(id);
      const Job& job = view.job(id);
      if (job.gpu_milli_per_task == 0 || state.tasks_placed < job.tasks) return;
      if (view.now_us - settled_since(state) < relief_rules_.cooldown_us) return;
      const auto speed = relative_speed(view, id);
      if (!speed || *speed >= straggler_speed_) return;
      const auto left_us = remaining_us(view, round.predictors, id, view.now_us).value_or(cost_us);
      const double lost_us = (1.0 / *speed - 1.0) * static_cast<double>(left_us);
      if (lost_us <= static_cast<double>(cost_us)) return;
      if (placer_.take_elsewhere(id, places_)) move_all(round, id);
    });
  }
  void move_all(const Round& round, JobId id) {
    const auto before = round.view.placements_of(id);
    free_.give_back(round.view.job(id), before);
    for (std::uint32_t k = 0; k < places_.size(); ++k) {
      if (places_[k] == before[k]) continue;
      round.plan.actions.push_back(
          {.kind = ActionKind::kMoveTask, .job = id, .task = k, .to = places_[k]});
    }
    leave_alone(id);
  }

  // Ranks are whole numbers; weights are bounded so that the largest is far below kLastRank.
  static constexpr double kUnit = 1e12;

  [[nodiscard]] static double loss_after(const ClusterView& view, JobId id, std::int64_t part) {
    return part > 0 ? berth::loss_after(*view.telemetry, id, part) : 1.0;
  }
  // How far its reports are looked at: in steps, so that a rank is worked out anew now and then.
  [[nodiscard]] static std::int64_t reported_part(const ClusterView& view, JobId id) {
    if (view.telemetry == nullptr || view.state(id).first_start_us == kNever) return 0;
    return fitted_part(view.telemetry->iterations(id).value_or(0));
  }
  // Whether the first that runs does: all do, or none.
  [[nodiscard]] bool reports_use(const ClusterView& view) const {
    return view.telemetry != nullptr && !running_jobs().empty() &&
           view.telemetry->use(JobId{running_jobs().first()}, 0).has_value();
  }
  [[nodiscard]] double size(const ClusterView& view, JobId id) {
    if (sizes_.size() <= id.index()) sizes_.resize(view.jobs.size(), kUnknown);
    double& known = sizes_[id.index()];
    if (known == kUnknown) known = size_of(view, view.job(id), weights_.gamma);
    return known;
  }
  [[nodiscard]] static MlfFacts facts(const ClusterView& view, const Predictors& predictors,
                                      JobId id, TimeUs as_of_us, TimeUs tau_us, double loss,
                                      double size) {
    const Job& job = view.job(id);
    MlfFacts out{.urgency = urgency_of(job), .loss = loss, .size = size, .tau_us = tau_us};
    // One of which nothing is predicted counts as a usual one.
    out.remaining_us = remaining_us(view, predictors, id, as_of_us).value_or(tau_us);
    // All of its waits: a job that waited for long would else be last as soon as it runs.
    const TimeUs present_us = std::max<TimeUs>(0, as_of_us - job.submit_us);
    out.waited_us = std::max<TimeUs>(0, present_us - view.state(id).attained_by(as_of_us));
    if (job.deadline_us.known()) out.laxity = laxity(view, id, as_of_us, out.remaining_us);
    return out;
  }
  // A job that runs keeps the laxity with which it started, as long as it can be in time: while it
  // runs it comes to need less of what is left, and those that wait more, and they would take
  // turns.
  [[nodiscard]] static double laxity(const ClusterView& view, JobId id, TimeUs as_of_us,
                                     TimeUs remaining_us) {
    const TimeUs deadline_us = view.job(id).deadline_us.value();
    const JobState& state = view.state(id);
    const double now = feasible_laxity(remaining_us, deadline_us - as_of_us);
    if (now == 0.0 || state.status != JobStatus::kRunning || state.last_start_us >= as_of_us) {
      return now;
    }
    const TimeUs ran_us = as_of_us - state.last_start_us;
    return feasible_laxity(remaining_us + ran_us, deadline_us - state.last_start_us);
  }

  static constexpr double kUnknown = -1.0;

  MlfWeights weights_;
  double most_;
  IdealServerPlacer placer_;
  ReliefRules relief_rules_;
  std::optional<OverloadRelief> relief_;  // nothing: no migration
  double straggler_speed_;
  std::optional<StragglerCopies> copies_;  // nothing: stragglers get none
  std::vector<Placement> places_;          // scratch
  FitCache<double> losses_;
  std::vector<double> sizes_;  // by JobId
  mutable SeenRunTimes seen_;  // explaining asks for it too
};

}  // namespace

Result<std::unique_ptr<Policy>> make_mlf_h(std::span<const PolicyOption> options) {
  RankedSettings settings{.least_run_s = 900};
  double preempts = 1;
  MlfWeights weights;
  IdealServerRules places;
  MigrationSettings migration;
  auto numbers = settings.numbers();
  numbers.insert(numbers.end(), {{"preempts", &preempts, 0, 1},
                                 {"alpha", &weights.alpha, 0, 1},
                                 {"gamma", &weights.gamma, 0, 1},
                                 {"gamma_d", &weights.gamma_d, 0, 1000},
                                 {"gamma_r", &weights.gamma_r, 0, 1000},
                                 {"gamma_w", &weights.gamma_w, 0, 1000},
                                 {"urgency_weight", &weights.urgency, 0, 1},
                                 {"loss_weight", &weights.loss, 0, 1},
                                 {"size_weight", &weights.size, 0, 1},
                                 {"h_r", &places.most_use, 0.05, 1},
                                 {"traffic_weight", &places.traffic_weight, 0, 1000},
                                 {"movement_weight", &places.movement_weight, 0, 1000},
                                 {"migrates", &migration.migrates, 0, 1},
                                 {"overloaded_rounds", &migration.overloaded_rounds, 0, 1e6},
                                 {"cooldown_s", &migration.cooldown_s, 0, 1e9},
                                 {"move_cost_s", &migration.move_cost_s, 0, 1e9},
                                 {"straggler_speed", &migration.straggler_speed, 0, 1},
                                 {"straggler_copies", &migration.straggler_copies, 0,
                                  static_cast<double>(kMostTaskCopies)},
                                 {"straggler_factor", &migration.copies.factor, 1, 1000},
                                 {"straggler_rounds", &migration.straggler_rounds, 0, 1e6},
                                 {"p_s", &migration.relief.share, 0, 1}});
  BERTH_CHECK_OK(read_options("mlf-h", options, numbers));
  migration.relief.sustained_us = us_of(migration.overloaded_rounds * settings.round_s, kUsPerS);
  migration.relief.cooldown_us = us_of(migration.cooldown_s, kUsPerS);
  migration.relief.cost_us = us_of(migration.move_cost_s, kUsPerS);
  migration.copies.most_copies = static_cast<std::size_t>(migration.straggler_copies);
  migration.copies.sustained_us = us_of(migration.straggler_rounds * settings.round_s, kUsPerS);
  migration.copies.cost_us = *migration.relief.cost_us;
  return std::make_unique<MlfH>(settings, preempts > 0, weights, places, migration);
}

}  // namespace berth
