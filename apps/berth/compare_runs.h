// The runs of a comparison: which there are, and how they get done.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "report/run_record.h"
#include "report/run_store.h"
#include "run_setup.h"

namespace berth::cli {

struct RunTask {
  std::string policy;
  Sharing sharing = Sharing::kExclusive;
  std::uint64_t seed = 0;
};

// The jobs of every run. Those that are drawn are drawn for each run anew, so that no more than one
// workload for each core is in memory.
struct CompareJobs {
  RunSetup setup;
  std::optional<Workload> on_whole_gpus;  // as-traced jobs that setup.workload has on shares

  // The jobs of a run; `drawn` may come to hold them.
  [[nodiscard]] Result<const Workload*> of(Sharing sharing, std::uint64_t seed,
                                           std::optional<Workload>& drawn) const;
};

// What determines a run, policy, sharing and seed apart: the bytes of the program and of every file
// that is read, and the options.
[[nodiscard]] Result<std::string> setup_fingerprint(const Args& args, const RunSetup& setup);
[[nodiscard]] std::string run_key(const std::string& setup_fingerprint, const RunTask& task);

struct RunResults {
  std::vector<std::optional<RunRecord>> runs;  // as the tasks; nothing: not done
  std::size_t kept = 0;                        // those that the store had
};

// Runs on all cores what `store` does not have, seed by seed, and adds it there. The results do not
// depend on who ran what. Ends early when `interrupted` is set. `store` may be null.
[[nodiscard]] Result<RunResults> run_tasks(const CompareJobs& jobs,
                                           const std::vector<RunTask>& tasks,
                                           const std::vector<std::string>& keys, RunStore* store,
                                           const std::atomic<bool>& interrupted);

}  // namespace berth::cli
