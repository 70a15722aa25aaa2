#include "run_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "engine/predictors.h"
#include "engine/presets/measured.h"
#include "engine/presets/paper.h"
#include "engine/simulator.h"
#include "trace/cluster_file.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "trace_options.h"

namespace berth::cli {
namespace {

// An option of the contract whose other values come with later parts of Berth.
Status only(const Args& args, std::string_view name, std::string_view value,
            std::span<const std::string_view> known) {
  BERTH_TRY(const std::string chosen, args.choice(name, known));
  if (chosen == value) return {};
  return fail(Error{.kind = ErrorKind::kUsage,
                    .message = "not in this version",
                    .field = std::string(name),
                    .found = chosen,
                    .expected = std::string(value)});
}

// Refuses --predict before anything is read.
Status known_predictor(const std::string& predict) {
  const auto predictors = make_predictors(predict, Workload{}, 0);
  return predictors ? Status{} : Status{fail(predictors.error())};
}

constexpr std::array<std::string_view, 3> kWorkloads = {"as-traced", "paper", "measured"};

// "workload 'paper' takes jobs, mean_alone_h".
std::string settings_of(Preset preset) {
  const auto keys = setting_keys(preset);
  const std::string_view name = kWorkloads[static_cast<std::size_t>(preset)];
  if (keys.empty()) return fmt::format("workload '{}' takes none", name);
  return fmt::format("workload '{}' takes {}", name, fmt::join(keys, ", "));
}

std::string_view set_help() {
  static const std::string text = fmt::format(
      "an option of the policy (POLICY.K: of that one), or of the workload: {} (repeatable)",
      fmt::join(setting_keys(Preset::kPaper), ", "));
  return text;
}

std::string policy_list() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : all_policies()) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view policy_help() {
  static const std::string text = "one of " + policy_list();
  return text;
}

std::string_view policies_help() {
  static const std::string text = "some of " + policy_list() + "; the first is the baseline";
  return text;
}

std::vector<Option> run_options() {
  std::vector<Option> options = trace_options();
  const std::vector<Option> more = {
      {.name = "--cluster",
       .metavar = "C",
       .help = "philly, mlfs-real, mlfs-large, NxG (N servers of G GPUs), or a file",
       .required = true},
      {.name = "--workload",
       .metavar = "W",
       .help = "as-traced: the trace's GPUs and durations; paper, measured: training jobs "
               "(docs/workloads.md)",
       .default_value = "as-traced"},
      {.name = "--sharing",
       .metavar = "S",
       .help = "exclusive: a GPU is a slot; shared: a task takes the share it declares",
       .default_value = "exclusive"},
      {.name = "--load-control",
       .metavar = "on|off",
       .help = "stop early under overload",
       .default_value = "off"},
      {.name = "--predict",
       .metavar = "P",
       .help =
           "what policies believe of run times: oracle, noisy:SIGMA, history (from jobs that have "
           "ended) or none",
       .default_value = "oracle"},
      {.name = "--set", .metavar = "K=V", .help = set_help(), .kind = OptionKind::kRepeated},
      {.name = "--faults",
       .metavar = "F",
       .help =
           "what fails: a CSV file, or drawn by kind:HOURS-BETWEEN:MINUTES-LONG of each server, "
           "device or slow device, as server:720:60,slow:240:30 (docs/simulation.md)"},
      {.name = "--progress",
       .metavar = "R",
       .help = "whole: replicas run whole or not at all; partial: in proportion to placed tasks",
       .default_value = "whole"},
      {.name = "--load", .metavar = "X", .help = "divide arrival times by X"},
      {.name = "--seed", .metavar = "S", .help = "of every random draw", .default_value = "1"},
      {.name = "--check",
       .help = "verify every invariant after every round",
       .kind = OptionKind::kFlag},
  };
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

constexpr std::size_t kMostFaultBytes = 64U << 20U;

Error fault_error(std::string_view found) {
  Error error = usage_error("not a failure process", "--faults");
  error.found = fmt::format("'{}'", printable(found));
  error.expected =
      "server|device|slow:HOURS-BETWEEN:MINUTES-LONG, hours from 0.1, minutes from 0.01";
  return error;
}

// "server:720:60": of each server, 720 hours between failures and 60 minutes to repair.
Status read_fault_process(std::string_view text, FaultProcess& process) {
  const auto parts = split(text, ':');
  const auto between_h = parts.size() == 3 ? parse_number(parts[1]) : std::nullopt;
  const auto long_min = parts.size() == 3 ? parse_number(parts[2]) : std::nullopt;
  constexpr double kMost = 1e6;
  if (!between_h || !long_min || *between_h < 0.1 || *long_min < 0.01 || *between_h > kMost ||
      *long_min > kMost) {
    return fail(fault_error(text));
  }
  const TimeUs between_us = std::llround(*between_h * static_cast<double>(kUsPerHour));
  const TimeUs long_us = std::llround(*long_min * static_cast<double>(kUsPerMin));
  if (parts[0] == "server") {
    process.server_between_us = between_us;
    process.server_repair_us = long_us;
  } else if (parts[0] == "device") {
    process.device_between_us = between_us;
    process.device_repair_us = long_us;
  } else if (parts[0] == "slow") {
    process.slow_between_us = between_us;
    process.slow_for_us = long_us;
  } else {
    return fail(fault_error(text));
  }
  return {};
}

Result<FaultSource> read_faults(const Args& args, const Cluster& cluster) {
  FaultSource out;
  if (!args.has("--faults")) return out;
  const std::string text = args.text("--faults");
  const bool drawn =
      text.starts_with("server:") || text.starts_with("device:") || text.starts_with("slow:");
  if (!drawn) {
    BERTH_TRY(const std::string bytes,
              trace::read_whole(text, "a list of failures", kMostFaultBytes));
    BERTH_TRY(out.events, parse_faults(bytes, text, cluster));
    return out;
  }
  out.process.emplace();
  for (const auto part : split(text, ',')) {
    BERTH_CHECK_OK(read_fault_process(part, *out.process));
  }
  return out;
}

Result<std::vector<PolicyOption>> set_options(const Args& args) {
  std::vector<PolicyOption> options;
  for (const std::string& text : args.list("--set")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      Error error = usage_error("not a setting", "--set");
      error.found = "'" + text + "'";
      error.expected = "key=value";
      return fail(std::move(error));
    }
    options.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return options;
}

Result<Sharing> sharing_option(const Args& args) {
  constexpr std::array<std::string_view, 2> kSharings = {"exclusive", "shared"};
  BERTH_TRY(const std::string sharing, args.choice("--sharing", kSharings));
  return sharing == "shared" ? Sharing::kShared : Sharing::kExclusive;
}

namespace {

TimeUs faults_until_us(const Workload& workload) {
  return 2 * workload.jobs.back().submit_us + 30 * kUsPerDay;
}

// How many failures are to be expected; each is held in memory.
double expected_faults(const FaultProcess& process, const Cluster& cluster, TimeUs until_us) {
  const auto of = [&](std::size_t things, TimeUs between_us, TimeUs long_us) {
    if (between_us <= 0) return 0.0;
    return static_cast<double>(things) * static_cast<double>(until_us) /
           static_cast<double>(between_us + long_us);
  };
  return of(cluster.servers.size(), process.server_between_us, process.server_repair_us) +
         of(cluster.gpus(), process.device_between_us, process.device_repair_us) +
         of(cluster.gpus(), process.slow_between_us, process.slow_for_us);
}

Status check_faults(const RunSetup& setup) {
  if (!setup.faults.process) return {};
  constexpr double kMostFaults = 5e6;
  const double expected =
      expected_faults(*setup.faults.process, setup.cluster, faults_until_us(setup.workload));
  if (expected <= kMostFaults) return {};
  Error error = usage_error("too many failures", "--faults");
  error.found = fmt::format("about {:.0f} in this run", expected);
  error.expected = fmt::format("at most {:.0f}", kMostFaults);
  return fail(std::move(error));
}

}  // namespace

Result<RunSetup> read_run_setup(const Args& args, Sharing sharing) {
  constexpr std::array<std::string_view, 2> kSwitch = {"on", "off"};
  RunSetup setup;
  WorkloadSource& source = setup.source;
  BERTH_TRY(const std::string workload, args.choice("--workload", kWorkloads));
  source.preset = static_cast<Preset>(std::ranges::find(kWorkloads, workload) - kWorkloads.begin());
  BERTH_CHECK_OK(only(args, "--load-control", "off", kSwitch));
  setup.sharing = sharing;
  BERTH_TRY(const std::int64_t seed, args.integer("--seed", 0, INT64_MAX));
  setup.seed = static_cast<std::uint64_t>(seed);
  setup.check = kDebugBuild || args.flag("--check");
  constexpr std::array<std::string_view, 2> kRules = {"whole", "partial"};
  BERTH_TRY(const std::string rule, args.choice("--progress", kRules));
  setup.progress_rule = rule == "partial" ? ProgressRule::kPartial : ProgressRule::kWhole;
  setup.predict = args.text("--predict");
  BERTH_CHECK_OK(known_predictor(setup.predict));
  BERTH_TRY(setup.policy_options, set_options(args));
  BERTH_TRY(source.settings, take_settings(source.preset, setup.policy_options));
  if (args.has("--load")) {
    BERTH_TRY(source.load, args.number("--load", 1e-6, 1e6));
  }
  BERTH_TRY(trace::ReadOptions options, trace_read_options(args));
  if (source.draws()) source.limit = std::exchange(options.limit, 0);
  BERTH_TRY(setup.cluster, trace::load_cluster(args.text("--cluster")));
  BERTH_TRY(trace::ReadResult read, trace::read_trace(args.text("--trace"), options));
  setup.report = std::move(read.report);
  BERTH_TRY(setup.faults, read_faults(args, setup.cluster));
  if (source.draws()) {
    source.trace = std::move(read.trace);
    BERTH_TRY(setup.workload, draw_workload(setup, sharing, setup.seed, setup.report));
    BERTH_CHECK_OK(check_faults(setup));
    return setup;
  }
  BERTH_TRY(setup.workload, as_traced(std::move(read.trace), setup.cluster, sharing, setup.report));
  if (source.load != 1.0) divide_arrivals(setup.workload, source.load);
  BERTH_CHECK_OK(check_faults(setup));
  return setup;
}

Result<Workload> draw_workload(const RunSetup& setup, Sharing sharing, std::uint64_t seed,
                               trace::RejectReport& report) {
  const WorkloadSource& source = setup.source;
  const auto draw = source.preset == Preset::kPaper ? paper_workload : measured_workload;
  BERTH_TRY(Workload workload,
            draw(source.trace, setup.cluster, sharing, source.settings, seed, report));
  if (source.load != 1.0) divide_arrivals(workload, source.load);
  if (source.limit > 0) keep_first(workload, source.limit);
  return workload;
}

// Drawn for the time in which jobs arrive, twice, and a month more; nothing fails after that.
std::vector<FaultEvent> draw_faults_of(const RunSetup& setup, const Workload& workload,
                                       std::uint64_t seed) {
  if (!setup.faults.process) return setup.faults.events;
  return draw_faults(*setup.faults.process, setup.cluster, faults_until_us(workload),
                     Rng(seed).fork("faults"));
}

namespace {

// Of "policy.key" what is before the dot; empty: an option for every policy that runs.
std::string_view addressee(const PolicyOption& option) {
  const std::size_t dot = option.key.find('.');
  return dot == std::string::npos ? std::string_view{}
                                  : std::string_view(option.key).substr(0, dot);
}

std::vector<PolicyOption> options_for(std::string_view name,
                                      const std::vector<PolicyOption>& options) {
  std::vector<PolicyOption> own;
  for (const PolicyOption& option : options) {
    const std::string_view to = addressee(option);
    if (to.empty()) own.push_back(option);
    if (to == name) own.push_back({option.key.substr(to.size() + 1), option.value});
  }
  return own;
}

}  // namespace

Status check_addressees(const RunSetup& setup, std::span<const std::string_view> policies) {
  for (const PolicyOption& option : setup.policy_options) {
    const std::string_view to = addressee(option);
    if (option.key.find('.') == std::string::npos ||
        std::ranges::find(policies, to) != policies.end()) {
      continue;
    }
    Error error = usage_error("an option of a policy that does not run", "--set");
    error.found = fmt::format("'{}'", printable(option.key));
    error.expected = fmt::format("POLICY.KEY with POLICY one of {}", fmt::join(policies, ", "));
    return fail(std::move(error));
  }
  return {};
}

Result<std::unique_ptr<Policy>> make_policy(const std::string& name, const RunSetup& setup) {
  BERTH_TRY(const PolicyInfo* const info, find_policy(name));
  if (info->needs_run_times && setup.predict == "none") {
    return fail(
        usage_error(fmt::format("policy '{}' needs predicted run times", name), "--predict"));
  }
  auto policy = info->make(options_for(name, setup.policy_options));
  if (!policy && policy.error().field == "--set") {
    // The policy cannot know that the setting may have been meant for the workload.
    Error error = std::move(policy).error();
    error.message += fmt::format("; {}", settings_of(setup.source.preset));
    return fail(std::move(error));
  }
  return policy;
}

std::string notices(const RunSetup& setup, const Args& args) {
  std::string out;
  if (setup.report.rejected() > 0) {
    out += fmt::format("{} not used; see: berth trace stats --trace {}\n",
                       counted(setup.report.rejected(), "row was", "rows were"),
                       printable(args.text("--trace")));
  }
  if (setup.workload.types_ignored > 0) {
    out += fmt::format("GPU types of {} ignored: the cluster names none\n",
                       counted(setup.workload.types_ignored, "job"));
  }
  return out;
}

}  // namespace berth::cli
