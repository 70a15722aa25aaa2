// The figures of one run (docs/metrics.md defines each). What is not known is absent, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/simulator.h"
#include "engine/workload.h"

namespace berth {

struct Metrics {
  std::string policy;
  std::string sharing;  // "exclusive" or "shared"
  std::string predict;  // name of the predictors
  std::uint64_t seed = 0;
  std::optional<double> rho_whole;
  std::optional<double> rho_share;
  std::uint64_t jobs = 0;
  std::uint64_t finished = 0;
  std::uint64_t stopped = 0;
  std::uint64_t failed = 0;
  std::uint64_t never_fit = 0;
  std::uint64_t unfinished = 0;  // of a run that was interrupted or ended in a deadlock
  std::optional<double> mean_jct_s;
  std::optional<double> p50_jct_s;
  std::optional<double> p95_jct_s;
  std::optional<double> p99_jct_s;
  std::optional<double> makespan_s;
  std::optional<double> mean_wait_s;
  std::optional<double> deadline_ratio;
  std::optional<double> urgent_deadline_ratio;
  std::optional<double> mean_accuracy;
  std::optional<double> accuracy_ratio;
  std::optional<double> inter_server_bytes;
  std::optional<double> gpu_utilisation;
  std::optional<std::uint64_t> overloads;
  std::optional<std::uint64_t> migrations;
  std::optional<std::uint64_t> copies;
  std::optional<double> copies_held_gpu_s;
  // Of log(true run time / predicted), over jobs that count and were predicted.
  std::optional<double> prediction_log_error_mean;
  std::optional<double> prediction_log_error_sd;
  std::optional<double> prediction_ratio_p50;  // the smaller over the larger of the two
  std::uint64_t preemptions = 0;
  std::uint64_t evictions = 0;
  std::optional<std::uint64_t> lost_iterations;
  std::uint64_t rounds = 0;
  std::uint64_t active_rounds = 0;
  std::optional<double> round_mean_us;  // over active rounds
  std::optional<double> round_p99_us;
  std::uint64_t events = 0;
  std::string event_hash;
  double cpu_s = 0;  // of this run, reading not included
  double wall_s = 0;
  double peak_rss_mib = 0;  // of the process
  bool interrupted = false;
  // Of a run in which parts of replicas held what the others waited for.
  std::optional<double> deadlock_at_s;
  std::optional<std::uint64_t> deadlock_holding_jobs;
  std::optional<double> deadlock_held_gpus;
  std::optional<std::uint64_t> deadlock_waiting_jobs;
};

// Jobs that finished or were stopped count for JCT, wait and makespan; never-fitting jobs do not.
[[nodiscard]] Metrics summarise(const Cluster& cluster, const Workload& workload,
                                SimulationResult& result);
// Adds how good the predictions of that run were.
void score_predictions(const Workload& workload, const SimulationResult& result,
                       const Predictors& predictors, Metrics& metrics);

}  // namespace berth
