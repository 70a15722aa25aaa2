// Prints the event log of every policy on a small generated workload. test_determinism.sh builds
// this with each compiler and optimisation level: the bytes must be the same.
#include "engine/event_log.h"

#include <fmt/format.h>

#include <string_view>

#include "engine/predictors.h"
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
            trace::generate_philly_like({.jobs = 1500, .load = 1.2, .gpus = 64}, Rng(kSeed)));
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
  BERTH_TRY(const SimulationResult result,
            simulate(cluster, workload, *policy, *predictors, options));
  fmt::print("# {}, {}, hash {}\n{}", info.name, predictor, result.event_hash, log.text());
  return {};
}

Status print_all() {
  for (const PolicyInfo& info : all_policies()) {
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
