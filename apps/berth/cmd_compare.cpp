// berth compare: several policies on the same jobs and seeds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "engine/metrics.h"
#include "engine/predictors.h"
#include "engine/simulator.h"
#include "output.h"
#include "report/comparison.h"
#include "report/json.h"
#include "run_setup.h"

namespace berth::cli {
namespace {

struct RunTask {
  std::string policy;
  std::uint64_t seed = 0;
};

Result<Metrics> run_one(const RunSetup& setup, const RunTask& task,
                        const std::atomic<bool>& interrupted) {
  const auto started = std::chrono::steady_clock::now();
  const double cpu_before_s = usage_now().thread_cpu_s;
  BERTH_TRY(const auto policy, make_policy(task.policy, setup));
  std::optional<Workload> drawn;
  if (setup.source.draws() && task.seed != setup.seed) {
    trace::RejectReport told_already;
    BERTH_TRY(drawn, draw_workload(setup, task.seed, told_already));
  }
  const Workload& workload = drawn ? *drawn : setup.workload;
  BERTH_TRY(const auto predictors, make_predictors(setup.predict, workload, task.seed));
  const std::vector<FaultEvent> faults = draw_faults_of(setup, workload, task.seed);
  SimulationOptions options{.seed = task.seed,
                            .check = setup.check,
                            .progress_rule = setup.progress_rule,
                            .faults = faults,
                            .interrupted = &interrupted};
  BERTH_TRY(SimulationResult result,
            simulate(setup.cluster, workload, *policy, *predictors, options));
  Metrics metrics = summarise(setup.cluster, workload, result);
  metrics.policy = task.policy;
  metrics.seed = task.seed;
  metrics.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  metrics.cpu_s = usage_now().thread_cpu_s - cpu_before_s;
  metrics.peak_rss_mib = usage_now().peak_rss_mib;
  return metrics;
}

// Runs every task on all cores; results in the order of the tasks, whoever ran them.
Result<std::vector<Metrics>> run_all(const RunSetup& setup, const std::vector<RunTask>& tasks,
                                     const std::atomic<bool>& interrupted) {
  std::vector<Metrics> results(tasks.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::mutex mutex;  // of first_error and the bar
  std::optional<Error> first_error;
  ProgressBar bar("comparing");
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size() && !interrupted; i = next++) {
      auto metrics = run_one(setup, tasks[i], interrupted);
      const std::lock_guard lock(mutex);
      if (!metrics) {
        if (!first_error) first_error = std::move(metrics).error();
        next = tasks.size();
        return;
      }
      results[i] = *std::move(metrics);
      bar.update(static_cast<double>(++done) / static_cast<double>(tasks.size()));
    }
  };
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t t = 1; t < std::min(cores, tasks.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_error) return fail(*std::move(first_error));
  if (interrupted) {
    // What was not run has no figures: it must not look like zeros.
    std::erase_if(results, [](const Metrics& m) { return m.policy.empty() || m.interrupted; });
  }
  return results;
}

Result<std::vector<std::string>> policy_names(const Args& args) {
  std::vector<std::string> names;
  const std::string list = args.text("--policies");  // outlives the views into it
  for (const auto name : split(list, ',')) {
    BERTH_TRY(const PolicyInfo* const info, find_policy(trim(name)));
    if (std::find(names.begin(), names.end(), info->name) != names.end()) {
      return fail(usage_error(fmt::format("policy '{}' is named twice", info->name), "--policies"));
    }
    names.emplace_back(info->name);
  }
  return names;
}

// How many policies, from the first on, have all their runs; the runs are in the order of policies.
std::size_t complete_policies(const std::vector<std::string>& names, std::size_t seeds,
                              const std::vector<Metrics>& runs) {
  std::size_t complete = 0;
  while (complete < names.size() && runs.size() >= (complete + 1) * seeds &&
         runs[(complete + 1) * seeds - 1].policy == names[complete]) {
    ++complete;
  }
  return complete;
}

// Each seed draws jobs of its own, and so has a load of its own.
std::string load_notice(const RunSetup& setup, const Comparison& comparison) {
  if (!setup.source.draws()) return {};
  double whole = 0;
  double share = 0;
  int seeds = 0;
  for (const Metrics& run : comparison.runs()) {
    if (run.policy != comparison.runs().front().policy) continue;
    if (!run.rho_whole || !run.rho_share) return {};
    whole += *run.rho_whole;
    share += *run.rho_share;
    ++seeds;
  }
  if (seeds == 0) return {};
  return fmt::format("offered load {:.3f}, by duty cycle {:.3f}{}\n", whole / seeds, share / seeds,
                     seeds > 1 ? fmt::format(" (mean of {} seeds)", seeds) : "");
}

std::string never_fit_notice(const Comparison& comparison) {
  if (comparison.runs().empty() || comparison.runs().front().never_fit == 0) return {};
  const Metrics& run = comparison.runs().front();
  return fmt::format("{} of {} never fit the cluster and {} left out; see: berth simulate\n",
                     with_thousands(static_cast<std::int64_t>(run.never_fit)),
                     counted(run.jobs, "job"), run.never_fit == 1 ? "is" : "are");
}

Result<int> compare_command(const Args& args) {
  if (args.has("--report")) return fail(usage_error("not in this version", "--report"));
  BERTH_TRY(const std::vector<std::string> names, policy_names(args));
  BERTH_TRY(const std::int64_t seeds, args.integer("--seeds", 1, 10'000));
  constexpr std::array<std::string_view, 1> kOutputs = {"--json"};
  BERTH_CHECK_OK(check_outputs(args, kOutputs));
  BERTH_TRY(const RunSetup setup, read_run_setup(args));
  if (setup.seed > static_cast<std::uint64_t>(INT64_MAX - (seeds - 1))) {
    return fail(usage_error("with so many --seeds the last one is too large", "--seed"));
  }
  std::vector<RunTask> tasks;
  for (const std::string& name : names) {
    BERTH_TRY(const auto policy, make_policy(name, setup));  // wrong options before any run
    for (std::int64_t s = 0; s < seeds; ++s) {
      tasks.push_back({name, setup.seed + static_cast<std::uint64_t>(s)});
    }
  }
  const std::atomic<bool>& interrupted = catch_interrupts();
  BERTH_TRY(std::vector<Metrics> runs, run_all(setup, tasks, interrupted));
  // After Ctrl-C the policies of which all runs are done are compared; the other runs are listed.
  const std::size_t complete = complete_policies(names, static_cast<std::size_t>(seeds), runs);
  const Comparison comparison(
      {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(complete)},
      static_cast<std::size_t>(seeds), std::move(runs));
  if (args.has("--json")) {
    auto json = comparison.to_json();
    json["baseline"] = names.front();
    json["interrupted"] = interrupted.load();
    json["input"] = to_json(setup.report);
    BERTH_CHECK_OK(write_output(args.text("--json"), json.dump(2) + "\n"));
  }
  if (!any_on_stdout(args, kOutputs) && complete > 0) {
    BERTH_CHECK_OK(print_out(comparison.table(stdout_has_colour())));
  }
  print_err(fmt::format("{}{}{}", load_notice(setup, comparison), notices(setup, args),
                        never_fit_notice(comparison)));
  if (complete == names.size()) return kDone;
  print_err(fmt::format("berth: interrupted; {} of {} done, {} of {}\n", comparison.runs().size(),
                        counted(tasks.size(), "run"), complete,
                        counted(names.size(), "policy", "policies")));
  return kInterrupted;
}

int run(const Args& args) {
  const auto code = compare_command(args);
  return code ? *code : report_error(code.error());
}

}  // namespace

Command compare_command_info() {
  Command command{.path = "compare",
                  .summary = "run several policies on the same jobs and seeds",
                  .example =
                      "berth compare --trace trace.csv --cluster 64x8 "
                      "--policies fifo,fifo-backfill,srtf --seeds 3 --predict noisy:0.5",
                  .options = run_options(),
                  .run = run};
  command.options.push_back(
      {.name = "--policies", .metavar = "A,B,C", .help = policies_help(), .required = true});
  command.options.push_back({.name = "--seeds",
                             .metavar = "N",
                             .help = "runs of each policy, with seeds S, S+1, ...",
                             .default_value = "1"});
  command.options.push_back({.name = "--report", .metavar = "DIR", .help = "not in this version"});
  command.options.push_back(
      {.name = "--json", .metavar = "F", .help = "write the figures; -: print them"});
  return command;
}

}  // namespace berth::cli
