#include "compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/fingerprint.h"
#include "console.h"
#include "engine/predictors.h"
#include "engine/simulator.h"

namespace berth::cli {
namespace {

Result<RunRecord> run_one(const CompareJobs& jobs, const RunTask& task, bool keeps_series,
                          const std::atomic<bool>& interrupted) {
  const RunSetup& setup = jobs.setup;
  const auto started = std::chrono::steady_clock::now();
  const double cpu_before_s = usage_now().thread_cpu_s;
  BERTH_TRY(const PolicyInfo* const info, find_policy(task.policy));
  BERTH_TRY(const auto policy, make_policy(task.policy, setup));
  std::optional<Workload> drawn;
  BERTH_TRY(const Workload* const workload, jobs.of(task.sharing, task.seed, drawn));
  BERTH_TRY(const auto predictors, make_predictors(setup.predict, *workload, task.seed));
  const std::vector<FaultEvent> faults = draw_faults_of(setup, *workload, task.seed);
  std::optional<RunSeriesLog> series;
  if (keeps_series) series.emplace(setup.cluster, *workload);
  SimulationOptions options{.seed = task.seed,
                            .check = setup.check,
                            .log = series ? &*series : nullptr,
                            .progress_rule = rule_for(*info, setup.progress_rule),
                            .faults = faults,
                            .interrupted = &interrupted};
  BERTH_TRY(SimulationResult result,
            simulate(setup.cluster, *workload, *policy, *predictors, options));
  RunRecord record;
  if (series) {
    record.series = series->series();
    record.jct_us = jct_quantiles(*workload, result);
  }
  Metrics& metrics = record.metrics;
  metrics = summarise(setup.cluster, *workload, result);
  score_predictions(*workload, result, *predictors, metrics);
  metrics.policy = task.policy;
  metrics.sharing = sharing_name(task.sharing);
  metrics.predict = setup.predict;
  metrics.seed = task.seed;
  metrics.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  metrics.cpu_s = usage_now().thread_cpu_s - cpu_before_s;
  metrics.peak_rss_mib = usage_now().peak_rss_mib;
  return record;
}

// One seed after the other, so that what is done early can be compared early.
std::vector<std::size_t> order_of(const std::vector<RunTask>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tasks[i].seed; });
  return order;
}

// Adds what an option says; of a file that it names, the bytes.
Status add_value(Fingerprint& out, std::string_view option, const std::string& value) {
  const bool is_trace = option == "--trace";
  if (!is_trace) out.add(value);
  if (!is_trace && option != "--cluster" && option != "--faults") return {};
  std::error_code no_matter;
  const auto status = std::filesystem::status(value, no_matter);
  if (std::filesystem::is_regular_file(status) || std::filesystem::is_directory(status)) {
    return out.add_file(value);
  }
  if (!is_trace && !std::filesystem::exists(status)) return {};  // a name, or a description
  Error error = usage_error("--report needs files that can be read again", std::string(option));
  error.found = fmt::format("'{}'", printable(value));
  return fail(std::move(error));
}

}  // namespace

Result<const Workload*> CompareJobs::of(Sharing sharing, std::uint64_t seed,
                                        std::optional<Workload>& drawn) const {
  if (!setup.source.draws()) {
    return sharing == setup.sharing ? &setup.workload : &on_whole_gpus.value();
  }
  if (sharing == setup.sharing && seed == setup.seed) return &setup.workload;
  trace::RejectReport told_already;
  BERTH_TRY(drawn, draw_workload(setup, sharing, seed, told_already));
  return &*drawn;
}

Result<std::string> setup_fingerprint(const Args& args, const RunSetup& setup) {
  Fingerprint out;
  out.add(BERTH_VERSION);
  BERTH_CHECK_OK(out.add_file("/proc/self/exe"));
  // As-traced jobs that are read as shares are fewer where some ask for 1.5 GPUs.
  out.add(setup.source.draws() ? "" : sharing_name(setup.sharing));
  // Which run of many, and what is checked on the way, is no part of it.
  constexpr std::string_view kApart[] = {"--sharing", "--seed", "--check"};
  for (const Option& option : run_options()) {
    if (std::ranges::find(kApart, option.name) != std::end(kApart)) continue;
    for (const std::string& value : args.list(option.name)) {
      out.add(option.name);
      BERTH_CHECK_OK(add_value(out, option.name, value));
    }
  }
  return out.hex();
}

std::string run_key(const std::string& setup_fingerprint, const RunTask& task) {
  Fingerprint out;
  out.add(setup_fingerprint);
  out.add(task.policy);
  out.add(sharing_name(task.sharing));
  out.add(task.seed);
  return out.hex();
}

Result<RunResults> run_tasks(const CompareJobs& jobs, const std::vector<RunTask>& tasks,
                             const std::vector<std::string>& keys, RunStore* store,
                             const std::atomic<bool>& interrupted) {
  RunResults results;
  results.runs.resize(tasks.size());
  std::vector<std::size_t> left;
  for (const std::size_t i : order_of(tasks)) {
    const RunRecord* const kept = store != nullptr ? store->find(keys[i]) : nullptr;
    if (kept != nullptr) {
      results.runs[i] = *kept;
      ++results.kept;
    } else {
      left.push_back(i);
    }
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // of what follows, and of results
  std::optional<Error> first_error;
  std::size_t done = results.kept;
  ProgressBar bar("comparing");
  const auto work = [&] {
    for (std::size_t n = next++; n < left.size() && !interrupted; n = next++) {
      const std::size_t i = left[n];
      auto record = run_one(jobs, tasks[i], store != nullptr, interrupted);
      if (record && record->metrics.interrupted) return;  // what was not run has no figures
      Status added;
      if (record && store != nullptr) added = store->add(keys[i], *record);
      const std::lock_guard lock(mutex);
      if (!record || !added) {
        Error error = record ? std::move(added).error() : std::move(record).error();
        if (!record) {
          error.message = fmt::format("policy {}, {}, seed {}: {}", tasks[i].policy,
                                      sharing_name(tasks[i].sharing), tasks[i].seed, error.message);
        }
        if (!first_error) first_error = std::move(error);
        next = left.size();
        return;
      }
      results.runs[i] = *std::move(record);
      bar.update(static_cast<double>(++done) / static_cast<double>(tasks.size()));
    }
  };
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t t = 1; t < std::min(cores, left.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_error) return fail(*std::move(first_error));
  return results;
}

}  // namespace berth::cli
