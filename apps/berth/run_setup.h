// What simulate and compare share: the options that say what is run on what.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli.h"
#include "engine/execution.h"
#include "engine/faults.h"
#include "engine/presets/settings.h"
#include "engine/workload.h"
#include "model/cluster.h"
#include "policy/policy.h"
#include "trace/reject.h"

namespace berth::cli {

[[nodiscard]] std::vector<Option> run_options();

// What the jobs of a run are made of.
struct WorkloadSource {
  Preset preset = Preset::kAsTraced;
  PresetSettings settings;
  trace::Trace trace;       // of presets that draw; as-traced jobs need it no more
  double load = 1.0;        // divides arrival times
  std::uint64_t limit = 0;  // the first jobs of the workload; 0: all

  // Whether each seed has jobs of its own.
  [[nodiscard]] bool draws() const { return preset != Preset::kAsTraced; }
};

// What fails: events of a file, or a process that each seed draws anew.
struct FaultSource {
  std::vector<FaultEvent> events;
  std::optional<FaultProcess> process;
};

struct RunSetup {
  Cluster cluster;
  WorkloadSource source;
  Sharing sharing = Sharing::kExclusive;
  Workload workload;  // of `seed`, for `sharing`
  trace::RejectReport report;
  std::string predict;                       // --predict
  std::vector<PolicyOption> policy_options;  // --set
  std::uint64_t seed = 1;
  bool check = false;
  ProgressRule progress_rule = ProgressRule::kWhole;
  FaultSource faults;
};

// Every --set; what is not of the workload is of the policy.
[[nodiscard]] Result<std::vector<PolicyOption>> set_options(const Args& args);

// --sharing exclusive|shared.
[[nodiscard]] Result<Sharing> sharing_option(const Args& args);

// Validates every option before anything is read. The jobs hold their GPUs as `sharing` says.
[[nodiscard]] Result<RunSetup> read_run_setup(const Args& args, Sharing sharing);

// The jobs of a run with this seed, where the source draws them.
[[nodiscard]] Result<Workload> draw_workload(const RunSetup& setup, Sharing sharing,
                                             std::uint64_t seed, trace::RejectReport& report);

// What fails in a run of these jobs with this seed.
[[nodiscard]] std::vector<FaultEvent> draw_faults_of(const RunSetup& setup,
                                                     const Workload& workload, std::uint64_t seed);

// Options that are addressed to one policy ("tiresias.round_s") are of one that runs.
[[nodiscard]] Status check_addressees(const RunSetup& setup,
                                      std::span<const std::string_view> policies);

// A policy of that name with the options of the set-up; refuses what its predictors cannot serve.
[[nodiscard]] Result<std::unique_ptr<Policy>> make_policy(const std::string& name,
                                                          const RunSetup& setup);

// Lines for people about rows that were not used and options that had no effect; empty if none.
[[nodiscard]] std::string notices(const RunSetup& setup, const Args& args);

// All policies by name, for --help.
[[nodiscard]] std::string_view policy_help();
[[nodiscard]] std::string_view policies_help();

}  // namespace berth::cli
