#include "policy/berth/berth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/id_set.h"
#include "base/ordered_blocks.h"
#include "place/room.h"
#include "place/task_mapping.h"
#include "policy/berth/accuracy_goal.h"
#include "policy/berth/plan_search.h"
#include "policy/berth/worth.h"
#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/patience.h"
#include "policy/common/place_walk.h"
#include "policy/common/refused_demands.h"
#include "policy/common/replicas.h"

namespace berth {
namespace {

struct BerthSettings {
  double round_s = 60;
  double least_run_s = 20;
  double restart_s = 150;
  double horizon_s = 1'200;
  double own = 0.35;   // of a second that a job does not run: what that delays the job itself
  double tries = 300;  // on 80 GPUs
  double waiting = 20;
  double search_gpus = 512;
  double patience_h = 0;
  double patient_share = 0.25;
  WorthSettings worth;

  [[nodiscard]] std::vector<NumberSetting> numbers() {
    return {{"round_s", &round_s, 0.001, 86'400},
            {"least_run_s", &least_run_s, 0, 86'400},
            {"restart_s", &restart_s, 0, 86'400},
            {"horizon_s", &horizon_s, 1, 1e6},
            {"own", &own, 0, 1e6},
            {"tries", &tries, 0, 1e6},
            {"waiting", &waiting, 1, 1e4},
            {"search_gpus", &search_gpus, 0, 1e9},
            {"patience_h", &patience_h, 0, 1e6},
            {"patient_share", &patient_share, 0, 1},
            {"least_left_s", &worth.least_left_s, 0.001, 1e6},
            {"unsure", &worth.unsure, 0.01, 100},
            {"outlived", &worth.outlived, 0, 100},
            {"goal", &worth.goal, 0, 1e6},
            {"accuracy", &worth.accuracy, 0, 1e6},
            {"accuracy_slack_s", &worth.accuracy_slack_s, 1, 1e6}};
  }
};

class BerthPolicy final : public CachedPolicy {
 public:
  explicit BerthPolicy(const BerthSettings& settings)
      : settings_(settings),
        round_us_(us_of(settings.round_s, kUsPerS)),
        least_run_us_(us_of(settings.least_run_s, kUsPerS)),
        patience_(settings.patience_h, settings.patient_share) {}

  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId job,
                      std::vector<PriorityTerm>& out) const override {
    terms_of(worth_now(view, predictors, job), out);
  }

 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void make_plan(const Round& round) override;
  // Every replica is the search's business.
  [[nodiscard]] bool regrows() const override { return false; }

 private:
  using Rank = std::int64_t;
  static constexpr Rank kNotWaiting = -1;
  // Of completion time: what an accuracy that counts as one end is worth in a plan.
  static constexpr double kEnd_s = 3 * 3'600;

  [[nodiscard]] TimeUs as_of(TimeUs now_us) const { return now_us - now_us % round_us_; }
  [[nodiscard]] bool at_round(TimeUs now_us) const { return now_us % round_us_ == 0; }
  [[nodiscard]] bool searches_now(const ClusterView& view) const;
  [[nodiscard]] std::uint32_t tries(const ClusterView& view) const;
  [[nodiscard]] bool heeds_accuracy() const { return settings_.worth.accuracy > 0; }
  [[nodiscard]] Worth worth_now(const ClusterView& view, const Predictors& predictors,
                                JobId id) const;

  // Positive numbers are ordered like their bits.
  [[nodiscard]] static Rank rank_of(double density) {
    return std::bit_cast<Rank>(std::numeric_limits<double>::infinity()) -
           std::bit_cast<Rank>(density);
  }

  void leave(JobId id);
  void enter(const Round& round, JobId id);
  void rank_anew(const Round& round);
  [[nodiscard]] Candidate candidate_of(const Round& round, JobId id, const Worth& worth,
                                       bool patient) const;
  void count_behind(Candidate& candidate, std::size_t behind) const;
  void list_running(const Round& round);
  void list_candidates(const Round& round);
  void raise(std::span<Candidate> privileged);
  [[nodiscard]] bool somebody_wants_more(const ClusterView& view) const;
  void search(const Round& round);
  void stop(const Round& round, std::size_t c);
  [[nodiscard]] JobId displacer(const Round& round, std::size_t c) const;
  void start(const Round& round, const Candidate& candidate, const Outcome& outcome);
  [[nodiscard]] std::vector<Placement> mapped(const Round& round, const Job& job,
                                              std::vector<Placement> places) const;
  void fill_up(const Round& round);
  void give_reasons(const Round& round);

  BerthSettings settings_;
  TimeUs round_us_;
  TimeUs least_run_us_;
  Patience patience_;

  mutable AccuracyGoals accuracy_goals_;  // explaining asks for it too
  IdSet running_;
  OrderedBlocks waiting_;  // that ask for GPUs; the densest first
  IdSet waiting_without_gpu_;
  std::vector<Rank> ranks_;    // by JobId, of those in waiting_
  std::vector<Worth> worths_;  // likewise
  IdSet changing_;             // of those in waiting_: whose deadline can still be met
  TimeUs ranked_as_of_us_ = -1;
  TimeUs reasons_as_of_us_ = -1;  // when everybody was given one
  std::vector<JobId> newly_filed_;

  // Scratch.
  std::vector<OrderedBlocks::Entry> probes_;  // by candidate that runs
  std::vector<std::size_t> waiting_before_;   // likewise: how many that wait are denser
  std::vector<Candidate> candidates_;         // those that run, then those that wait
  std::vector<Outcome> outcomes_;             // by candidate
  PlanSearch plans_;
  Room room_;
};

void BerthPolicy::reset(const Round& /*round*/) {
  accuracy_goals_.clear();
  running_.clear();
  waiting_.clear();
  waiting_without_gpu_.clear();
  changing_.clear();
  ranks_.clear();
  worths_.clear();
  ranked_as_of_us_ = -1;
  reasons_as_of_us_ = -1;
  newly_filed_.clear();
}

void BerthPolicy::leave(JobId id) {
  running_.erase(id.value);
  waiting_without_gpu_.erase(id.value);
  changing_.erase(id.value);
  Rank& rank = ranks_[id.index()];
  if (rank == kNotWaiting) return;
  waiting_.erase(rank, id.value);
  rank = kNotWaiting;
}

Worth BerthPolicy::worth_now(const ClusterView& view, const Predictors& predictors,
                             JobId id) const {
  const double to_accuracy = heeds_accuracy() ? accuracy_goals_.part_left(view, id) : 0;
  Worth worth = worth_of(view, predictors, id, to_accuracy, settings_.worth);
  heed_deadline(worth, view.job(id), as_of(view.now_us), settings_.worth);
  return worth;
}

void BerthPolicy::enter(const Round& round, JobId id) {
  const Worth& worth = worths_[id.index()] = worth_now(round.view, round.predictors, id);
  ranks_[id.index()] = rank_of(worth.density());
  waiting_.insert({ranks_[id.index()], id.value, 0});
  if (changes_with_time(worth, round.view.job(id), as_of(round.view.now_us))) {
    changing_.insert(id.value);
  }
}

void BerthPolicy::file_job(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  if (ranks_.size() < round.view.jobs.size()) {
    ranks_.resize(round.view.jobs.size(), kNotWaiting);
    worths_.resize(round.view.jobs.size());
    running_.grow(round.view.jobs.size());
    changing_.grow(round.view.jobs.size());
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

// What is left of a job that waits stays, and what it needs to its accuracy; how near its deadline
// is does not.
void BerthPolicy::rank_anew(const Round& round) {
  const TimeUs as_of_us = as_of(round.view.now_us);
  if (ranked_as_of_us_ == as_of_us) return;
  ranked_as_of_us_ = as_of_us;
  changing_.for_each([&](std::uint32_t j) {
    Worth& worth = worths_[j];
    const Job& job = round.view.job(JobId{j});
    heed_deadline(worth, job, as_of_us, settings_.worth);
    waiting_.erase(ranks_[j], j);
    ranks_[j] = rank_of(worth.density());
    waiting_.insert({ranks_[j], j, 0});
    if (!changes_with_time(worth, job, as_of_us)) changing_.erase(j);
  });
}

Candidate BerthPolicy::candidate_of(const Round& round, JobId id, const Worth& worth,
                                    bool patient) const {
  const ClusterView& view = round.view;
  Candidate out{.id = id, .density = worth.density()};
  out.gpus = worth.gpus;
  out.value =
      (settings_.own + kEnd_s * worth.accuracy_per_s) * static_cast<double>(view.devices.size());
  out.runs = running_replicas(view, id);
  const JobState& state = view.state(id);
  out.may_leave = out.runs > 0 && !patient &&
                  view.now_us - state.last_start_us >= least_run_us(state, least_run_us_);
  return out;
}

// So many others are not denser: they wait for its work.
void BerthPolicy::count_behind(Candidate& candidate, std::size_t behind) const {
  candidate.value += candidate.gpus * static_cast<double>(behind);
  candidate.loss = candidate.value * settings_.restart_s / settings_.horizon_s;
}

void BerthPolicy::list_running(const Round& round) {
  candidates_.clear();
  running_.for_each([&](std::uint32_t j) {
    const JobId id{j};
    const bool patient = patience_.was_over(round.view, id);
    candidates_.push_back(
        candidate_of(round, id, worth_now(round.view, round.predictors, id), patient));
  });
  std::ranges::stable_sort(candidates_, std::ranges::greater(), &Candidate::density);
  probes_.clear();
  for (const Candidate& candidate : candidates_) {
    probes_.push_back({rank_of(candidate.density), 0, 0});
  }
  waiting_.counts_before(probes_, waiting_before_);
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    count_behind(candidates_[c], candidates_.size() - c - 1 + waiting_.size() - waiting_before_[c]);
  }
}

void BerthPolicy::list_candidates(const Round& round) {
  const ClusterView& view = round.view;
  list_running(round);
  const std::size_t running = candidates_.size();
  const auto add_waiting = [&](JobId id, bool patient, std::size_t position) {
    Candidate candidate = candidate_of(round, id, worths_[id.index()], patient);
    const auto denser = std::ranges::partition_point(
        std::span(candidates_).first(running),
        [&](const Candidate& runner) { return runner.density >= candidate.density; });
    const auto others_first = static_cast<std::size_t>(denser - std::span(candidates_).begin());
    count_behind(candidate, running - others_first + waiting_.size() - position - 1);
    candidate.displaces =
        searches_now(view) || waits_since(view.job(id), view.state(id)) >= as_of(view.now_us);
    candidates_.push_back(candidate);
  };
  const std::vector<JobId> privileged = patience_.privileged(
      view, free_,
      [&](auto visit) { running_.for_each([&](std::uint32_t j) { visit(JobId{j}); }); },
      [&](auto visit) {
        waiting_.for_each([&](const OrderedBlocks::Entry& entry) { visit(JobId{entry.id}); });
      },
      [&](JobId id) { return view.job(id).gpu_milli(); });
  for (const JobId id : privileged) add_waiting(id, true, 0);
  const auto* next = waiting_.at_or_after(0, 0);
  for (std::size_t n = 0; next != nullptr && static_cast<double>(n) < settings_.waiting; ++n) {
    const JobId id{next->id};
    if (std::ranges::find(privileged, id) == privileged.end()) add_waiting(id, false, n);
    next = waiting_.at_or_after(next->key, next->id + 1);
  }
  raise(std::span(candidates_).subspan(running, privileged.size()));
}

// Each is worth more than all others together, and comes before them.
void BerthPolicy::raise(std::span<Candidate> privileged) {
  if (privileged.empty()) return;
  double sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.value;
  for (Candidate& candidate : privileged) {
    candidate.value += 2 * sum;
    candidate.density = std::numeric_limits<double>::max();
  }
}

// Most decisions of a cluster that is not full end here.
bool BerthPolicy::somebody_wants_more(const ClusterView& view) const {
  if (!waiting_.empty()) return true;
  for (std::uint32_t j = running_.first(); j != IdSet::kNone; j = running_.at_or_after(j + 1)) {
    if (running_replicas(view, JobId{j}) < view.job(JobId{j}).replicas) return true;
  }
  return false;
}

bool BerthPolicy::searches_now(const ClusterView& view) const {
  return static_cast<double>(view.devices.size()) <= settings_.search_gpus || at_round(view.now_us);
}

// A try takes time in proportion to the cluster.
std::uint32_t BerthPolicy::tries(const ClusterView& view) const {
  constexpr double kGpusOfSetting = 80;
  if (!searches_now(view)) return 0;
  const auto gpus = static_cast<double>(view.devices.size());
  return static_cast<std::uint32_t>(
      std::ceil(settings_.tries * std::min(1.0, kGpusOfSetting / gpus)));
}

void BerthPolicy::make_plan(const Round& round) {
  waiting_without_gpu_.for_each([&](std::uint32_t j) {
    if (try_start(round, JobId{j})) waiting_without_gpu_.erase(j);
  });
  rank_anew(round);
  if (somebody_wants_more(round.view)) {
    list_candidates(round);
    search(round);
    fill_up(round);
  }
  give_reasons(round);
  if (!waiting_.empty() && (!running_.empty() || !round.plan.actions.empty())) {
    round.plan.wake_us = as_of(round.view.now_us) + round_us_;
  }
}

void BerthPolicy::search(const Round& round) {
  room_.read(round.view);
  plans_.begin(round.view, room_, candidates_);
  plans_.improve(tries(round.view), round.rng);
  plans_.finish(outcomes_, room_);
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!outcomes_[c].lost.empty()) stop(round, c);
  }
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    if (!outcomes_[c].added.empty()) start(round, candidates_[c], outcomes_[c]);
  }
}

void BerthPolicy::stop(const Round& round, std::size_t c) {
  const Candidate& candidate = candidates_[c];
  const Outcome& outcome = outcomes_[c];
  if (outcome.lost.size() < candidate.runs) {
    file_again(candidate.id);
    for (const std::uint32_t replica : outcome.lost) {
      preempt_replica(round, candidate.id, replica);
    }
    return;
  }
  preempt(round, candidate.id);
  if (!outcome.added.empty()) return;
  const JobId by = displacer(round, c);
  give_reason(round, candidate.id,
              by.valid() ? Reason{.code = ReasonCode::kPreempted, .subject = by.value}
                         : Reason{.code = ReasonCode::kOrderedLater,
                                  .asked = round.view.job(candidate.id).gpu_milli()});
}

// The densest of those that get one of its devices.
JobId BerthPolicy::displacer(const Round& round, std::size_t c) const {
  JobId by;
  double densest = 0;
  for (const Placement& own : round.view.placements_of(candidates_[c].id)) {
    for (std::size_t other = 0; other < candidates_.size(); ++other) {
      if (other == c || candidates_[other].density <= densest) continue;
      const auto& added = outcomes_[other].added;
      if (std::ranges::find(added, own.device, &Placement::device) == added.end()) continue;
      by = candidates_[other].id;
      densest = candidates_[other].density;
    }
  }
  return by;
}

std::vector<Placement> BerthPolicy::mapped(const Round& round, const Job& job,
                                           std::vector<Placement> places) const {
  if (!job.graph.valid()) return places;
  const TaskGraph& graph = round.view.graphs[job.graph.index()];
  for (std::size_t at = 0; at < places.size(); at += job.partitions()) {
    map_tasks(graph, std::span(places).subspan(at, job.partitions()));
  }
  return places;
}

// The replicas that do not run then, from the first on.
void BerthPolicy::start(const Round& round, const Candidate& candidate, const Outcome& outcome) {
  const Job& job = round.view.job(candidate.id);
  const std::uint32_t partitions = job.partitions();
  const std::vector<Placement> places = mapped(round, job, outcome.added);
  const auto goes_on = [&](std::uint32_t replica) {
    return candidate.runs > 0 &&
           places_of_replica(round.view, candidate.id, replica).front().server.valid() &&
           std::ranges::find(outcome.lost, replica) == outcome.lost.end();
  };
  std::size_t next = 0;
  for (std::uint32_t r = 0; next < places.size(); ++r) {
    if (goes_on(r)) continue;
    start_replica(round, candidate.id, r, std::span(places).subspan(next, partitions));
    next += partitions;
  }
  if (candidate.runs == outcome.lost.size()) {
    start_parameter_server(
        round, candidate.id,
        job.graph.valid() ? parameter_server_place(round.view.graphs[job.graph.index()], places)
                          : places.front().server);
  }
  file_again(candidate.id);
  if (candidate.runs == 0) leave(candidate.id);
}

// Those that the search did not look at, in order, as far as they find room.
void BerthPolicy::fill_up(const Round& round) {
  if (static_cast<double>(waiting_.size()) <= settings_.waiting) return;
  // So that a long queue costs no more than one of some hundreds.
  constexpr int kLookedAt = 500;
  constexpr int kLookedAtBetweenRounds = 50;
  int most = at_round(round.view.now_us) ? kLookedAt : kLookedAtBetweenRounds;
  RefusedDemands refused;
  Outcome outcome;
  OrderedBlocks::Entry at{};
  for (const auto* next = waiting_.at_or_after(0, 0);
       next != nullptr && most > 0 && room_.free_milli() > 0;
       next = waiting_.at_or_after(at.key, at.id + 1), --most) {
    at = *next;  // it may start, and is not in waiting_ then
    const JobId id{at.id};
    const Job replica = replicas_of(round.view.job(id), 1);
    if (refused.contains(replica)) continue;
    outcome.added.clear();
    std::uint32_t replicas = 0;
    while (replicas < round.view.job(id).replicas &&
           room_.take_all(replica, replica.tasks, outcome.added)) {
      ++replicas;
    }
    if (replicas == 0) {
      refused.add(replica);
    } else {
      start(round, {.id = id}, outcome);
    }
  }
}

void BerthPolicy::give_reasons(const Round& round) {
  // What is said of those that wait seldom changes.
  constexpr TimeUs kRounds = 10;
  const TimeUs as_of_us = round.view.now_us - round.view.now_us % (kRounds * round_us_);
  const bool others_first = !running_.empty();
  if (reasons_as_of_us_ != as_of_us) {
    reasons_as_of_us_ = as_of_us;
    waiting_.for_each([&](const OrderedBlocks::Entry& entry) {
      explain_wait(round, JobId{entry.id}, {}, others_first);
    });
  }
  for (const JobId id : newly_filed_) {
    if (ranks_[id.index()] != kNotWaiting) explain_wait(round, id, {}, others_first);
    if (waiting_without_gpu_.contains(id.value)) {
      give_reason(round, id, shortage(round.view.job(id)));
    }
  }
  newly_filed_.clear();
}

}  // namespace

Result<std::unique_ptr<Policy>> make_berth(std::span<const PolicyOption> options) {
  BerthSettings settings;
  BERTH_CHECK_OK(read_options("berth", options, settings.numbers()));
  return std::make_unique<BerthPolicy>(settings);
}

}  // namespace berth
