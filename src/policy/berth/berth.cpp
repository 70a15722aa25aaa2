#include "policy/berth/berth.h"

#include <algorithm>
#include <bit>

#include "base/id_set.h"
#include "base/ordered_blocks.h"
#include "place/room.h"
#include "policy/berth/plan_search.h"
#include "policy/berth/worth.h"
#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/place_walk.h"
#include "policy/common/refused_demands.h"
#include "policy/common/replicas.h"

namespace berth {
namespace {

struct Settings {
  double round_s = 60;
  double least_run_s = 300;
  double restart_s = 60;   // that a job is taken to lose when it is moved or stopped
  double horizon_s = 600;  // for which a plan is taken to last
  double tries = 40;
  double waiting = 40;  // that the search looks at, the densest
  WorthSettings worth;
};

class BerthPolicy final : public CachedPolicy {
 public:
  explicit BerthPolicy(const Settings& settings)
      : settings_(settings),
        round_us_(us_of(settings.round_s, kUsPerS)),
        least_run_us_(us_of(settings.least_run_s, kUsPerS)) {}

  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId job,
                      std::vector<PriorityTerm>& out) const override {
    terms_of(worth_of(view, predictors, job, as_of(view.now_us), settings_.worth), out);
  }

 protected:
  void reset(const Round& /*round*/) override {
    running_.clear();
    waiting_.clear();
    waiting_without_gpu_.clear();
    ranks_.clear();
    ranked_as_of_us_ = -1;
    newly_filed_.clear();
  }

  void file_job(const Round& round, JobId id) override {
    const Job& job = round.view.job(id);
    if (ranks_.size() < round.view.jobs.size()) {
      ranks_.resize(round.view.jobs.size(), kNotWaiting);
      running_.grow(round.view.jobs.size());
      waiting_without_gpu_.grow(round.view.jobs.size());
    }
    leave(id);
    if (round.view.state(id).status == JobStatus::kRunning) {
      if (job.gpu_milli_per_task > 0) running_.insert(id.value);
      return;
    }
    if (!waits_for_places(round, id)) return;
    newly_filed_.push_back(id);
    if (job.gpu_milli_per_task == 0) {
      waiting_without_gpu_.insert(id.value);
    } else {
      enter(round, id);
    }
  }

  void make_plan(const Round& round) override {
    waiting_without_gpu_.for_each([&](std::uint32_t j) {
      if (try_start(round, JobId{j})) waiting_without_gpu_.erase(j);
    });
    rank_anew(round);
    list_candidates(round);
    if (candidates_.size() > running_candidates_ || lacks_replicas(round)) {
      room_.read(round.view);
      PlanSearch search(round.view, room_, candidates_);
      search.improve({static_cast<std::uint32_t>(settings_.tries)}, round.rng);
      carry_out(round, search.outcomes(room_));
      fill_up(round);
    }
    give_reasons(round);
    if (!waiting_.empty() && (!running_.empty() || !round.plan.actions.empty())) {
      round.plan.wake_us = as_of(round.view.now_us) + round_us_;
    }
  }

  [[nodiscard]] bool regrows() const override { return false; }

 private:
  using Rank = std::int64_t;
  static constexpr Rank kNotWaiting = -1;

  [[nodiscard]] TimeUs as_of(TimeUs now_us) const { return now_us - now_us % round_us_; }

  // Positive doubles are ordered like their bits.
  static Rank rank_of(double density) {
    return std::bit_cast<Rank>(std::numeric_limits<double>::max()) -
           std::bit_cast<Rank>(density);
  }

  void leave(JobId id) {
    running_.erase(id.value);
    waiting_without_gpu_.erase(id.value);
    Rank& rank = ranks_[id.index()];
    if (rank == kNotWaiting) return;
    waiting_.erase(rank, id.value);
    rank = kNotWaiting;
  }

  void enter(const Round& round, JobId id) {
    const Worth worth = worth_of(round.view, round.predictors, id, as_of(round.view.now_us),
                                 settings_.worth);
    ranks_[id.index()] = rank_of(worth.density());
    waiting_.insert({ranks_[id.index()], id.value, 0});
  }

  void rank_anew(const Round& round) {
    const TimeUs as_of_us = as_of(round.view.now_us);
    if (ranked_as_of_us_ == as_of_us) return;
    ranked_as_of_us_ = as_of_us;
    if (settings_.worth.goal <= 0 && settings_.worth.age_h <= 0) return;
    std::vector<JobId> ids;
    waiting_.for_each([&](const OrderedBlocks::Entry& entry) { ids.emplace_back(entry.id); });
    for (const JobId id : ids) {
      leave(id);
      enter(round, id);
    }
  }

  Candidate candidate_of(const Round& round, JobId id) {
    const ClusterView& view = round.view;
    const Worth worth =
        worth_of(view, round.predictors, id, as_of(view.now_us), settings_.worth);
    const JobState& state = view.state(id);
    Candidate out{.id = id, .value = worth.value(), .density = worth.density()};
    out.loss = out.value * settings_.restart_s / settings_.horizon_s;
    out.runs = running_replicas(view, id);
    out.may_leave =
        out.runs > 0 && view.now_us - state.last_start_us >= least_run_us(state, least_run_us_);
    return out;
  }

  void list_candidates(const Round& round) {
    candidates_.clear();
    running_.for_each([&](std::uint32_t j) {
      candidates_.push_back(candidate_of(round, JobId{j}));
    });
    std::ranges::stable_sort(candidates_, std::ranges::greater(), &Candidate::density);
    running_candidates_ = candidates_.size();
    const auto* next = waiting_.at_or_after(0, 0);
    for (int n = 0; next != nullptr && n < static_cast<int>(settings_.waiting); ++n) {
      candidates_.push_back(candidate_of(round, JobId{next->id}));
      next = waiting_.at_or_after(next->key, next->id + 1);
    }
  }

  [[nodiscard]] bool lacks_replicas(const Round& round) const {
    return std::ranges::any_of(candidates_, [&](const Candidate& candidate) {
      return candidate.runs < round.view.job(candidate.id).replicas;
    });
  }

  void carry_out(const Round& round, const std::vector<Outcome>& outcomes) {
    for (std::size_t c = 0; c < outcomes.size(); ++c) {
      const Candidate& candidate = candidates_[c];
      const Outcome& outcome = outcomes[c];
      if (outcome.lost.empty()) continue;
      if (outcome.lost.size() == candidate.runs) {
        preempt(round, candidate.id);
        if (outcome.added.empty()) {
          give_reason(round, candidate.id, {.code = ReasonCode::kOrderedLater,
                                            .asked = round.view.job(candidate.id).gpu_milli()});
        }
        continue;
      }
      file_again(candidate.id);
      for (const std::uint32_t replica : outcome.lost) {
        round.plan.actions.push_back({.kind = ActionKind::kPreemptReplica,
                                      .job = candidate.id,
                                      .to = {},
                                      .value = replica});
      }
    }
    for (std::size_t c = 0; c < outcomes.size(); ++c) {
      if (!outcomes[c].added.empty()) start_replicas(round, candidates_[c], outcomes[c]);
    }
  }

  // The replicas that do not run then, from the first on.
  void start_replicas(const Round& round, const Candidate& candidate, const Outcome& outcome) {
    const Job& job = round.view.job(candidate.id);
    const std::uint32_t partitions = job.partitions();
    const bool runs_on = candidate.runs > outcome.lost.size();
    std::size_t next = 0;
    for (std::uint32_t r = 0; r < job.replicas && next < outcome.added.size(); ++r) {
      const bool runs = candidate.runs > 0 &&
                        places_of_replica(round.view, candidate.id, r).front().server.valid() &&
                        std::ranges::find(outcome.lost, r) == outcome.lost.end();
      if (runs) continue;
      for (std::uint32_t k = 0; k < partitions; ++k) {
        round.plan.actions.push_back({.kind = ActionKind::kStartTask,
                                      .job = candidate.id,
                                      .task = r * partitions + k,
                                      .to = outcome.added[next++]});
      }
    }
    if (!runs_on && job.parameter_servers > 0) {
      round.plan.actions.push_back({.kind = ActionKind::kStartTask,
                                    .job = candidate.id,
                                    .task = job.workers(),
                                    .to = {outcome.added.front().server, {}}});
    }
    file_again(candidate.id);
    if (candidate.runs == 0) leave(candidate.id);
  }

  // What the search did not look at, in order, as far as it finds room.
  void fill_up(const Round& round) {
    if (static_cast<double>(waiting_.size()) <= settings_.waiting) return;
    RefusedDemands refused;
    OrderedBlocks::Entry at{};
    const auto* next = waiting_.at_or_after(0, 0);
    for (; next != nullptr && room_.free_milli() > 0; next = waiting_.at_or_after(at.key, at.id + 1)) {
      at = *next;
      const JobId id{at.id};
      const Job& job = round.view.job(id);
      const Job replica = replicas_of(job, 1);
      if (refused.contains(replica)) continue;
      Outcome outcome;
      if (!room_.take_all(replica, replica.tasks, outcome.added)) {
        refused.add(replica);
        continue;
      }
      std::uint32_t more = 1;
      while (more < job.replicas && room_.take_all(replica, replica.tasks, outcome.added)) ++more;
      start_replicas(round, {.id = id}, outcome);
    }
  }

  void give_reasons(const Round& round) {
    const bool others_first = !running_.empty();
    for (const JobId id : newly_filed_) {
      if (ranks_[id.index()] != kNotWaiting) explain_wait(round, id, {}, others_first);
      if (waiting_without_gpu_.contains(id.value)) {
        give_reason(round, id, shortage(round.view.job(id)));
      }
    }
    newly_filed_.clear();
  }

  Settings settings_;
  TimeUs round_us_;
  TimeUs least_run_us_;

  IdSet running_;
  OrderedBlocks waiting_;  // that ask for GPUs; the densest first
  IdSet waiting_without_gpu_;
  std::vector<Rank> ranks_;  // by JobId, of those in waiting_
  TimeUs ranked_as_of_us_ = -1;
  std::vector<JobId> newly_filed_;
  std::vector<Candidate> candidates_;  // scratch: those that run, then those that wait
  std::size_t running_candidates_ = 0;
  Room room_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_berth(std::span<const PolicyOption> options) {
  Settings settings;
  const std::vector<NumberSetting> numbers = {
      {"round_s", &settings.round_s, 0.001, 86'400},
      {"least_run_s", &settings.least_run_s, 0, 86'400},
      {"restart_s", &settings.restart_s, 0, 86'400},
      {"horizon_s", &settings.horizon_s, 1, 86'400},
      {"tries", &settings.tries, 0, 1e6},
      {"waiting", &settings.waiting, 1, 1e4},
      {"least_left_s", &settings.worth.least_left_s, 0.001, 1e6},
      {"goal", &settings.worth.goal, 0, 1e6},
      {"age_h", &settings.worth.age_h, 0, 1e6}};
  BERTH_CHECK_OK(read_options("berth", options, numbers));
  return std::make_unique<BerthPolicy>(settings);
}

}  // namespace berth
