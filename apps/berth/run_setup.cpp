#include "run_setup.h"

#include <fmt/format.h>

#include <array>

#include "base/number.h"
#include "base/text.h"
#include "engine/predictors.h"
#include "engine/simulator.h"
#include "trace/cluster_file.h"
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
  if (predict == "history") {
    Error error = usage_error("not in this version", "--predict");
    error.found = predict;
    error.expected = "oracle, noisy:SIGMA or none";
    return fail(std::move(error));
  }
  const auto predictors = make_predictors(predict, Workload{}, 0);
  return predictors ? Status{} : Status{fail(predictors.error())};
}

Result<std::vector<PolicyOption>> policy_options(const Args& args) {
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
       .help = "as-traced: the trace's GPUs and durations",
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
       .help = "what policies believe of run times: oracle, noisy:SIGMA or none",
       .default_value = "oracle"},
      {.name = "--set",
       .metavar = "K=V",
       .help = "an option of the policy (repeatable)",
       .kind = OptionKind::kRepeated},
      {.name = "--load", .metavar = "X", .help = "divide arrival times by X"},
      {.name = "--seed", .metavar = "S", .help = "of every random draw", .default_value = "1"},
      {.name = "--check",
       .help = "verify every invariant after every round",
       .kind = OptionKind::kFlag},
  };
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

Result<RunSetup> read_run_setup(const Args& args) {
  constexpr std::array<std::string_view, 3> kWorkloads = {"as-traced", "paper", "measured"};
  constexpr std::array<std::string_view, 2> kSharings = {"exclusive", "shared"};
  constexpr std::array<std::string_view, 2> kSwitch = {"on", "off"};
  RunSetup setup;
  BERTH_CHECK_OK(only(args, "--workload", "as-traced", kWorkloads));
  BERTH_CHECK_OK(only(args, "--load-control", "off", kSwitch));
  BERTH_TRY(const std::string sharing, args.choice("--sharing", kSharings));
  BERTH_TRY(const std::int64_t seed, args.integer("--seed", 0, INT64_MAX));
  setup.seed = static_cast<std::uint64_t>(seed);
  setup.check = kDebugBuild || args.flag("--check");
  setup.predict = args.text("--predict");
  BERTH_CHECK_OK(known_predictor(setup.predict));
  BERTH_TRY(setup.policy_options, policy_options(args));
  double load = 1.0;
  if (args.has("--load")) {
    BERTH_TRY(load, args.number("--load", 1e-6, 1e6));
  }
  BERTH_TRY(const trace::ReadOptions options, trace_read_options(args));
  BERTH_TRY(setup.cluster, trace::load_cluster(args.text("--cluster")));
  BERTH_TRY(trace::ReadResult read, trace::read_trace(args.text("--trace"), options));
  setup.report = std::move(read.report);
  if (load != 1.0) {
    for (trace::TraceJob& job : read.trace.jobs) {
      job.arrival_us = std::llround(static_cast<double>(job.arrival_us) / load);
    }
  }
  BERTH_TRY(setup.workload,
            as_traced(std::move(read.trace), setup.cluster,
                      sharing == "shared" ? Sharing::kShared : Sharing::kExclusive, setup.report));
  return setup;
}

Result<std::unique_ptr<Policy>> make_policy(const std::string& name, const RunSetup& setup) {
  BERTH_TRY(const PolicyInfo* const info, find_policy(name));
  if (info->needs_run_times && setup.predict == "none") {
    return fail(
        usage_error(fmt::format("policy '{}' needs predicted run times", name), "--predict"));
  }
  return info->make(setup.policy_options);
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
