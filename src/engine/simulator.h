// The discrete-event simulator: jobs arrive, a policy decides, time passes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/event_log.h"
#include "engine/execution.h"
#include "engine/faults.h"
#include "engine/reason_observer.h"
#include "engine/workload.h"
#include "model/cluster_state.h"
#include "policy/policy.h"

namespace berth {

#ifdef NDEBUG
inline constexpr bool kDebugBuild = false;
#else
inline constexpr bool kDebugBuild = true;
#endif

// When nothing runs and nothing is to come, a policy that wakes this often without an action is not
// woken any more: what waits then waits for ever.
inline constexpr int kMostIdleWakes = 10'000;

struct SimulationOptions {
  std::uint64_t seed = 1;
  bool check = kDebugBuild;  // verify every invariant after every round
  EventLog* log = nullptr;   // where events go; null: only counted and hashed
  ReasonObserver* reasons = nullptr;
  ProgressRule progress_rule = ProgressRule::kWhole;
  std::span<const FaultEvent> faults;              // by time (faults.h)
  const std::atomic<bool>* interrupted = nullptr;  // checked between rounds
  // Called now and then with the number of jobs that ended and the simulated time.
  std::function<void(std::size_t ended, TimeUs now_us)> progress;
  // Rounds at which the policy's caches are dropped, to test that this changes nothing: 1 in N.
  std::uint64_t drop_caches_one_in = 0;
};

// Parts of replicas that hold devices and wait for the rest, with nothing left to happen that could
// free any.
struct Deadlock {
  TimeUs at_us = 0;                // when the last job ended; 0: none did
  std::uint64_t holding_jobs = 0;  // that have some of their tasks placed
  std::int64_t held_milli = 0;     // thousandths of GPUs that these hold
  std::uint64_t waiting_jobs = 0;  // that have none
};

// What came of a run; quantities over jobs are in engine/metrics.h.
struct SimulationResult {
  std::vector<JobState> states;      // by JobId; jobs that had not arrived are pending
  std::vector<JobOutcome> outcomes;  // by JobId; nothing for as-traced jobs
  std::vector<Reason> reasons;       // by JobId, of those still pending
  std::size_t arrived = 0;
  std::uint64_t never_fit = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t evictions = 0;       // jobs that a failure took off their devices
  std::int64_t lost_iterations = 0;  // run and thrown away, rounded down
  std::uint64_t copies = 0;          // of tasks, that were made
  double copies_held_gpu_us = 0;     // GPUs times the time that copies held them
  ExecutionTotals totals;
  TimeUs first_arrival_us = 0;
  TimeUs end_us = 0;  // last end of a job
  std::uint64_t events = 0;
  std::string event_hash;
  std::uint64_t rounds = 0;
  std::vector<std::uint32_t> active_round_ns;  // of each active round: something waited
  bool interrupted = false;
  std::optional<Deadlock> deadlock;
};

// Runs to the end: until nothing can change any more. An internal error means that the policy made
// a plan that cannot be applied, or that an invariant broke.
[[nodiscard]] Result<SimulationResult> simulate(const Cluster& cluster, const Workload& workload,
                                                Policy& policy, Predictors& predictors,
                                                const SimulationOptions& options);

}  // namespace berth
