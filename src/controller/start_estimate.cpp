#include "controller/start_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/predictors.h"
#include "engine/simulator.h"

namespace berth {
namespace {

constexpr int kMostDraws = 100;
// Until enough has ended to tell; on the Philly trace it is 1.9 (curve/run_time_history.h).
constexpr double kUnknownLogError = 1.9;
constexpr std::size_t kEnoughToLearn = 10;
// Of a speed that a job reports.
constexpr double kSpeedLogError = 0.1;
constexpr TimeUs kShortestUs = kUsPerS;

// What is believed of a job: its whole run time, and how sure that is.
struct Belief {
  TimeUs run_us = 0;
  TimeUs ran_us = 0;
  double log_error = 0;
};

struct Snapshot {
  std::vector<const LiveJob*> live;  // running ones first
  std::size_t running = 0;
  std::size_t target = 0;
  std::vector<Belief> beliefs;
};

// Of the jobs that have ended, with what was predicted of them when they came.
void learn_error(const Controller& controller, StartEstimate& out) {
  double sum = 0;
  for (const JobId id : controller.ended()) {
    const JobState& state = controller.state().state(id);
    const auto predicted_us = controller.decider().predictors().run_time_us(id);
    if (!predicted_us || state.status == JobStatus::kFailed || state.attained_us <= 0) continue;
    const double error = std::log(static_cast<double>(std::max(state.attained_us, kShortestUs)) /
                                  static_cast<double>(std::max(*predicted_us, kShortestUs)));
    sum += error * error;
    ++out.learned_from;
  }
  out.log_error = out.learned_from >= kEnoughToLearn
                      ? std::sqrt(sum / static_cast<double>(out.learned_from))
                      : kUnknownLogError;
}

// The middle of what such jobs took, where nothing was predicted when the job came.
std::optional<TimeUs> median_of_ended(const Controller& controller) {
  std::vector<TimeUs> took;
  for (const JobId id : controller.ended()) {
    const JobState& state = controller.state().state(id);
    if (state.status != JobStatus::kFailed && state.attained_us > 0) {
      took.push_back(state.attained_us);
    }
  }
  if (took.empty()) return std::nullopt;
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return *middle;
}

std::optional<Belief> belief_of(const Controller& controller, const LiveJob& job,
                                std::optional<TimeUs> fallback_us, double log_error) {
  const TimeUs now_us = controller.clock().now_us();
  Belief out{.ran_us = controller.state().state(job.id).attained_by(now_us),
             .log_error = log_error};
  const Job& declared = controller.state().job(job.id);
  const auto done = controller.telemetry().iterations(job.id);
  const auto per_s = controller.telemetry().best_replica_iterations_per_s(job.id);
  if (done && per_s && declared.max_iterations.known()) {
    const auto left =
        static_cast<double>(std::max<std::int64_t>(0, declared.max_iterations.value() - *done));
    const auto left_us = us_from_seconds(left / (*per_s * job.replicas));
    if (left_us) {
      out.run_us = out.ran_us + *left_us;
      out.log_error = kSpeedLogError;
      return out;
    }
  }
  const auto predicted_us = controller.decider().predictors().run_time_us(job.id);
  std::optional<TimeUs> run_us = predicted_us ? predicted_us : fallback_us;
  if (declared.time_limit_us.known()) {
    run_us = std::min(run_us.value_or(kNever), declared.time_limit_us.value());
  }
  if (!run_us) return std::nullopt;
  out.run_us = *run_us;
  return out;
}

// What is left, given that it has run so long.
TimeUs draw_left(const Belief& belief, Rng& rng) {
  constexpr int kTries = 50;
  constexpr double kLongestUs = 1e15;
  for (int i = 0; i < kTries; ++i) {
    const double us = static_cast<double>(std::max(belief.run_us, kShortestUs)) *
                      rng.log_normal(0, belief.log_error);
    if (us > static_cast<double>(belief.ran_us)) {
      return static_cast<TimeUs>(std::min(us, kLongestUs)) - belief.ran_us;
    }
  }
  // Far longer than was believed: as long again, on average.
  return static_cast<TimeUs>(static_cast<double>(belief.ran_us) * rng.exponential(1.0));
}

std::optional<Snapshot> take_snapshot(const Controller& controller, JobNumber number,
                                      StartEstimate& out) {
  Snapshot snapshot;
  std::vector<const LiveJob*> waiting;
  for (const auto& [key, job] : controller.jobs()) {
    if (!job.id.valid()) continue;
    const bool runs = controller.state().state(job.id).status == JobStatus::kRunning;
    (runs ? snapshot.live : waiting).push_back(&job);
  }
  snapshot.running = snapshot.live.size();
  snapshot.live.insert(snapshot.live.end(), waiting.begin(), waiting.end());
  if (snapshot.live.size() > kMostJobsToEstimate) {
    out.why_not = fmt::format("{} jobs are too many to simulate while you wait; {} at most",
                              snapshot.live.size(), kMostJobsToEstimate);
    return std::nullopt;
  }
  const auto target =
      std::ranges::find(waiting, number, [](const LiveJob* job) { return job->record.number; });
  if (target == waiting.end()) {
    out.why_not = "it does not wait for the policy";
    return std::nullopt;
  }
  snapshot.target = snapshot.running + static_cast<std::size_t>(target - waiting.begin());
  const auto fallback_us = median_of_ended(controller);
  for (const LiveJob* job : snapshot.live) {
    const auto belief = belief_of(controller, *job, fallback_us, out.log_error);
    if (!belief) {
      out.why_not = "no job has ended yet from which run times could be told";
      return std::nullopt;
    }
    snapshot.beliefs.push_back(*belief);
  }
  return snapshot;
}

// Those that run begin first and at once, with what is left of them.
Workload workload_of(const Controller& controller, const Snapshot& snapshot, Rng& rng) {
  const TimeUs now_us = controller.clock().now_us();
  Workload out;
  for (std::size_t i = 0; i < snapshot.live.size(); ++i) {
    Job job = controller.state().job(snapshot.live[i]->id);
    job.submit_us = i < snapshot.running ? 0 : 1;
    if (job.deadline_us.known()) job.deadline_us = job.deadline_us.value() - now_us;
    job.graph = {};
    job.replicas = 1;
    out.jobs.push_back(job);
    out.truths.push_back({std::max(kShortestUs, draw_left(snapshot.beliefs[i], rng))});
    out.names.emplace_back();
  }
  return out;
}

struct Draw {
  TimeUs start_us = kNever;
  std::vector<JobNumber> ahead;
};

Result<Draw> simulate_once(const Controller& controller, const Snapshot& snapshot, Rng rng) {
  const Workload workload = workload_of(controller, snapshot, rng);
  BERTH_TRY(const PolicyInfo* info, find_policy(controller.options().policy));
  BERTH_TRY(const std::unique_ptr<Policy> policy, info->make(controller.options().policy_options));
  std::vector<TimeUs> believed;
  for (const Belief& belief : snapshot.beliefs) {
    believed.push_back(std::max(kShortestUs, belief.run_us - belief.ran_us));
  }
  const std::unique_ptr<Predictors> predictors = believe("history", std::move(believed));
  BERTH_TRY(const SimulationResult result,
            simulate(controller.slots().cluster(), workload, *policy, *predictors, {}));
  Draw out{.start_us = result.states[snapshot.target].first_start_us};
  std::vector<std::pair<TimeUs, std::size_t>> before;
  for (std::size_t i = snapshot.running; i < result.states.size(); ++i) {
    const TimeUs start_us = result.states[i].first_start_us;
    if (i != snapshot.target && start_us <= out.start_us && start_us != kNever) {
      before.emplace_back(start_us, i);
    }
  }
  std::ranges::sort(before);
  for (const auto& [start_us, i] : before) {
    out.ahead.push_back(snapshot.live[i]->record.number);
  }
  return out;
}

}  // namespace

StartEstimate estimate_start(const Controller& controller, JobNumber number, TimeUs budget_us) {
  StartEstimate out;
  learn_error(controller, out);
  const auto snapshot = take_snapshot(controller, number, out);
  if (!snapshot) return out;
  const auto began = std::chrono::steady_clock::now();
  const Rng rng(controller.options().seed);
  std::vector<Draw> draws;
  for (std::uint64_t i = 0; i < kMostDraws; ++i) {
    auto draw = simulate_once(controller, *snapshot, rng.fork(i));
    if (!draw) {
      out.why_not = draw.error().text();
      return out;
    }
    draws.push_back(std::move(*draw));
    const auto took = std::chrono::steady_clock::now() - began;
    if (std::chrono::duration_cast<std::chrono::microseconds>(took).count() > budget_us) break;
  }
  std::ranges::sort(draws, {}, &Draw::start_us);
  const auto at = [&](double part) {
    const auto last = static_cast<double>(draws.size() - 1);
    return static_cast<std::size_t>(std::llround(part * last));
  };
  out.draws = static_cast<int>(draws.size());
  out.low_us = draws[at(0.05)].start_us;
  out.median_us = draws[at(0.5)].start_us;
  out.high_us = draws[at(0.95)].start_us;
  out.ahead = draws[at(0.5)].ahead;
  if (out.median_us == kNever) {
    out.draws = 0;
    out.why_not = "in the simulation it never starts";
  }
  return out;
}

}  // namespace berth
