// Prints the event log of every policy on a small generated workload. test_determinism.sh builds
// this with each compiler and optimisation level: the bytes must be the same.
#include "engine/event_log.h"

#include <fmt/format.h>

#include <string_view>

#include "engine/faults.h"
#include "engine/predictors.h"
#include "engine/presets/paper.h"
#include "engine/simulator.h"
#include "engine/workload.h"
#include "model/cluster.h"
#include "policy/policy.h"
#include "trace/generate.h"

namespace berth {
namespace {

constexpr std::uint64_t kSeed = 7;

// More work than the cluster can do at once, so that every policy has to choose.
Status print_log(const PolicyInfo& info, std::string_view predictor, Sharing sharing) {
  BERTH_TRY(trace::Trace trace,
            trace::generate_philly_like({.jobs = 600, .load = 1.2, .gpus = 64}, Rng(kSeed)));
  Cluster cluster;
  cluster.gpu_types.push_back({});
  for (const std::uint32_t gpus : {8, 8, 8, 8, 8, 8, 4, 4, 4, 2, 2}) {
    cluster.add_server("", GpuTypeId{0U}, gpus);
  }
  trace::RejectReport report;
  BERTH_TRY(const Workload workload, as_traced(std::move(trace), cluster, sharing, report));
  BERTH_TRY(const auto predictors, make_predictors(predictor, workload, kSeed));
  BERTH_TRY(const auto policy, info.make({}));
  TextEventLog log;
  SimulationOptions options;
  options.seed = kSeed;
  options.log = &log;
  options.progress_rule = rule_for(info, ProgressRule::kWhole);
  BERTH_TRY(const SimulationResult result,
            simulate(cluster, workload, *policy, *predictors, options));
  fmt::print("# {}, {}, hash {}\n{}", info.name, predictor, result.event_hash, log.text());
  return {};
}

// Training jobs with everything: graphs, links, shared devices, learning curves, failures.
Status print_training_log(const PolicyInfo& info, Sharing sharing) {
  BERTH_TRY(const trace::Trace trace,
            trace::generate_philly_like({.jobs = 1500, .load = 1.2, .gpus = 64}, Rng(kSeed)));
  BERTH_TRY(const Cluster cluster, *named_cluster("mlfs-real"));
  trace::RejectReport report;
  const PresetSettings settings{.jobs = 300, .stop = StopChoice::kMixed};
  BERTH_TRY(const Workload workload,
            paper_workload(trace, cluster, sharing, settings, kSeed, report));
  BERTH_TRY(const auto predictors, make_predictors("noisy:0.5", workload, kSeed));
  BERTH_TRY(const auto policy, info.make({}));
  const FaultProcess process{.server_between_us = 100 * kUsPerHour,
                             .server_repair_us = kUsPerHour,
                             .slow_between_us = 50 * kUsPerHour,
                             .slow_for_us = kUsPerHour};
  const auto faults = draw_faults(process, cluster, 30 * kUsPerDay, Rng(kSeed).fork("faults"));
  TextEventLog log;
  const SimulationOptions options{.seed = kSeed,
                                  .log = &log,
                                  .progress_rule = rule_for(info, ProgressRule::kWhole),
                                  .faults = faults};
  BERTH_TRY(const SimulationResult result,
            simulate(cluster, workload, *policy, *predictors, options));
  fmt::print("# {}, paper, hash {}\n{}", info.name, result.event_hash, log.text());
  return {};
}

Status print_all() {
  for (const PolicyInfo& info : all_policies()) {
    BERTH_CHECK_OK(print_training_log(info, Sharing::kExclusive));
    BERTH_CHECK_OK(print_training_log(info, Sharing::kShared));
    BERTH_CHECK_OK(print_log(info, "oracle", Sharing::kExclusive));
    BERTH_CHECK_OK(print_log(info, "noisy:0.5", Sharing::kShared));
  }
  return {};
}

}  // namespace
}  // namespace berth

int main() {
  const auto status = berth::print_all();
  if (status) return 0;
  fmt::print(stderr, "{}\n", status.error().text());
  return 1;
}
