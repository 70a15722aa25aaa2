// Small clusters and workloads for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/predictors.h"
#include "engine/simulator.h"
#include "engine/workload.h"

namespace berth::testing {

// How many of `n` random cases to try: a share of them where each is dear (BERTH_CASES_PERCENT).
[[nodiscard]] int cases(int n);

struct SimpleJob {
  double submit_s = 0;
  double run_s = 0;
  std::uint32_t gpus = 1;
  std::uint32_t gpu_milli = 1000;  // of each task
  GpuTypeMask types = kAnyGpuType;
};

// Jobs in the order given, which must be by submit time.
[[nodiscard]] Workload workload_of(const std::vector<SimpleJob>& jobs);

[[nodiscard]] Cluster cluster_of(std::string_view size);  // "4x8"

// 1-6 servers of 1-8 GPUs, of one GPU type or of up to three.
[[nodiscard]] Cluster random_cluster(Rng& rng, bool types);

struct RandomJobs {
  std::size_t max_jobs = 60;
  bool types = false;     // some jobs accept only some GPU types
  bool shares = false;    // some jobs take a share of a GPU
  bool too_large = true;  // some never fit
};
// Times on a coarse grid, so that many events fall on one instant.
[[nodiscard]] Workload random_workload(Rng& rng, const Cluster& cluster, const RandomJobs& shape);

// The lines of two event logs from the first difference on, or "".
[[nodiscard]] std::string first_difference(const std::string& fast, const std::string& slow);

// A policy that thinks in seconds where its users let it think in minutes, so that small cases see
// all of it: rounds, least runs and patience are as short as its options allow for.
[[nodiscard]] std::vector<PolicyOption> quick_options(const PolicyInfo& info);
[[nodiscard]] std::unique_ptr<Policy> quick_policy(const PolicyInfo& info);

struct Run {
  SimulationResult result;
  std::string log;
};
struct RunSetup {
  std::string_view predict = "oracle";
  std::uint64_t drop_caches_one_in = 0;
  std::vector<FaultEvent> faults;  // by time
  std::vector<PolicyOption> options;
};
// Simulates with every invariant checked; a failure of the run fails the test.
[[nodiscard]] Run run_policy(const Cluster& cluster, const Workload& workload,
                             std::string_view policy, const RunSetup& setup = {});

}  // namespace berth::testing
