#include "engine/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace berth {
namespace {

struct Share {
  std::uint64_t of = 0;
  std::uint64_t met = 0;

  void add(bool is_met) {
    ++of;
    if (is_met) ++met;
  }
  [[nodiscard]] std::optional<double> ratio() const {
    if (of == 0) return std::nullopt;
    return static_cast<double>(met) / static_cast<double>(of);
  }
};

constexpr double kUsPerSecond = 1e6;

// Above it a job counts as urgent (MLFS, section on experiments).
constexpr std::int32_t kUrgent = 8;

// Sums and lists over jobs.
struct JobFigures {
  std::vector<double> jct_s;
  double jct_sum_s = 0;
  double wait_sum_s = 0;
  double busy_gpu_s = 0;
  Share deadlines;
  Share urgent_deadlines;
  Share accuracies;
  double accuracy_sum = 0;
  std::uint64_t with_curve = 0;
};

bool counts(const JobState& state) {
  return state.status == JobStatus::kFinished || state.status == JobStatus::kStopped;
}

// Accuracy is read off at the deadline, or at the end of the job if that came first.
void add_training(JobFigures& figures, const Job& job, const TrainingTruth& truth,
                  const JobOutcome& outcome) {
  const double accuracy = truth.curve.accuracy(outcome.iterations_by_deadline);
  figures.accuracy_sum += accuracy;
  ++figures.with_curve;
  if (job.required_accuracy_ppm < 0) return;
  figures.accuracies.add(accuracy >= static_cast<double>(job.required_accuracy_ppm) / 1e6);
}

// As-traced jobs hold all their GPUs while they run; of others the outcome knows.
double held_gpu_s(const Job& job, const JobState& state, const JobOutcome* outcome) {
  if (outcome != nullptr) return outcome->held_gpu_us / kUsPerSecond;
  if (job.gpu_milli_per_task == 0) return 0.0;
  return seconds(state.attained_us) * static_cast<double>(job.gpu_milli()) / 1000.0;
}

void add_job(JobFigures& figures, const Job& job, const JobState& state,
             const JobOutcome* outcome) {
  if (state.last_stop_us == kNever) return;
  figures.busy_gpu_s += held_gpu_s(job, state, outcome);
  if (job.deadline_us.known()) {
    const bool in_time = counts(state) && state.last_stop_us <= job.deadline_us.value();
    figures.deadlines.add(in_time);
    if (job.urgency > kUrgent) figures.urgent_deadlines.add(in_time);
  }
  if (!counts(state)) return;
  const double jct_s = seconds(state.last_stop_us - job.submit_us);
  figures.jct_s.push_back(jct_s);
  figures.jct_sum_s += jct_s;
  figures.wait_sum_s += jct_s - seconds(state.attained_us);
}

void set_round_times(Metrics& metrics, std::vector<std::uint32_t>& round_ns) {
  metrics.active_rounds = round_ns.size();
  if (round_ns.empty()) return;
  double sum_ns = 0;
  for (const std::uint32_t ns : round_ns) sum_ns += ns;
  metrics.round_mean_us = sum_ns / static_cast<double>(round_ns.size()) / 1e3;
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(0.99 * static_cast<double>(round_ns.size())) - 1);
  std::nth_element(round_ns.begin(), round_ns.begin() + rank, round_ns.end());
  metrics.round_p99_us = round_ns[static_cast<std::size_t>(rank)] / 1e3;
}

}  // namespace

Metrics summarise(const Cluster& cluster, const Workload& workload, SimulationResult& result) {
  Metrics metrics;
  const OfferedLoad load = offered_load(workload, cluster);
  if (load.whole >= 0) metrics.rho_whole = load.whole;
  if (load.share >= 0) metrics.rho_share = load.share;
  metrics.jobs = workload.jobs.size();
  metrics.never_fit = result.never_fit;
  JobFigures figures;
  figures.busy_gpu_s = result.copies_held_gpu_us / kUsPerSecond;
  figures.jct_s.reserve(metrics.jobs);
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobState& state = result.states[j];
    metrics.finished += state.status == JobStatus::kFinished ? 1 : 0;
    metrics.stopped += state.status == JobStatus::kStopped ? 1 : 0;
    metrics.failed += state.status == JobStatus::kFailed ? 1 : 0;
    const bool trains = !result.outcomes.empty();
    add_job(figures, workload.jobs[j], state, trains ? &result.outcomes[j] : nullptr);
    if (trains && state.last_stop_us != kNever) {
      add_training(figures, workload.jobs[j], workload.training.jobs[j], result.outcomes[j]);
    }
  }
  metrics.unfinished =
      metrics.jobs - metrics.finished - metrics.stopped - metrics.failed - metrics.never_fit;
  if (!figures.jct_s.empty()) {
    const auto count = static_cast<double>(figures.jct_s.size());
    metrics.mean_jct_s = figures.jct_sum_s / count;
    metrics.mean_wait_s = figures.wait_sum_s / count;
    metrics.p50_jct_s = quantile(figures.jct_s, 0.50);
    metrics.p95_jct_s = quantile(figures.jct_s, 0.95);
    metrics.p99_jct_s = quantile(figures.jct_s, 0.99);
    const double span_s = seconds(result.end_us - result.first_arrival_us);
    metrics.makespan_s = span_s;
    if (span_s > 0 && cluster.gpus() > 0) {
      metrics.gpu_utilisation = figures.busy_gpu_s / (static_cast<double>(cluster.gpus()) * span_s);
    }
  }
  metrics.deadline_ratio = figures.deadlines.ratio();
  metrics.urgent_deadline_ratio = figures.urgent_deadlines.ratio();
  metrics.accuracy_ratio = figures.accuracies.ratio();
  if (figures.with_curve > 0) {
    metrics.mean_accuracy = figures.accuracy_sum / static_cast<double>(figures.with_curve);
    metrics.inter_server_bytes = std::round(result.totals.inter_server_bytes);
    metrics.overloads = result.totals.overloads;
    metrics.migrations = result.totals.migrations;
    metrics.copies = result.copies;
    metrics.copies_held_gpu_s = result.copies_held_gpu_us / kUsPerSecond;
    metrics.lost_iterations = static_cast<std::uint64_t>(result.lost_iterations);
  }
  metrics.preemptions = result.preemptions;
  metrics.evictions = result.evictions;
  metrics.rounds = result.rounds;
  set_round_times(metrics, result.active_round_ns);
  metrics.events = result.events;
  metrics.event_hash = result.event_hash;
  metrics.interrupted = result.interrupted;
  if (result.deadlock) {
    metrics.deadlock_at_s = seconds(result.deadlock->at_us);
    metrics.deadlock_holding_jobs = result.deadlock->holding_jobs;
    metrics.deadlock_held_gpus = static_cast<double>(result.deadlock->held_milli) / kWholeGpuMilli;
    metrics.deadlock_waiting_jobs = result.deadlock->waiting_jobs;
  }
  return metrics;
}

void score_predictions(const Workload& workload, const SimulationResult& result,
                       const Predictors& predictors, Metrics& metrics) {
  std::vector<double> ratios;
  double sum = 0;
  double squares = 0;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    if (!counts(result.states[j])) continue;
    const auto predicted_us = predictors.run_time_us(JobId{j});
    const TimeUs true_us = workload.truths[j].work_us;
    if (!predicted_us || *predicted_us <= 0 || true_us <= 0) continue;
    const double error =
        std::log(static_cast<double>(true_us) / static_cast<double>(*predicted_us));
    sum += error;
    squares += error * error;
    ratios.push_back(std::exp(-std::abs(error)));
  }
  if (ratios.empty()) return;
  const auto count = static_cast<double>(ratios.size());
  const double mean = sum / count;
  metrics.prediction_log_error_mean = mean;
  metrics.prediction_log_error_sd = std::sqrt(std::max(0.0, squares / count - mean * mean));
  metrics.prediction_ratio_p50 = quantile(ratios, 0.5);
}

}  // namespace berth
