// A workload like Microsoft's Philly, of any length, drawn from its quantiles (philly_facts.h).
//
// Arrivals: the gaps between them have Philly's distribution, come in bursts as there (their ranks
// are correlated over thousands of jobs), and follow its daily and weekly rhythm. GPU counts and
// durations (which depend on the GPU count) are stratified: at any number of jobs their quantiles
// are Philly's. Virtual clusters have Philly's shares. What is not modelled: correlation of GPU
// counts and durations within a burst, users, failures.
//
// At load 1 the mean gap is 66 s and a job holds 32 GPU-hours: 70 % of 2,490 GPUs.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/result.h"
#include "trace/trace.h"

namespace berth::trace {

struct GenerateOptions {
  std::uint64_t jobs = 10'000;  // 1 to kMaxGeneratedJobs; the span grows with it
  double load = 1;              // arrivals per second, relative to Philly's on as many GPUs
  std::int64_t gpus = 2490;     // of the cluster that the load refers to: the rate grows with it
};

inline constexpr std::uint64_t kMaxGeneratedJobs = 100'000'000;

// The first job arrives at 0, which is a Monday at 00:00. Gaps and durations are whole seconds, the
// gaps before they are divided by the load. Errors: an option out of range.
[[nodiscard]] Result<Trace> generate_philly_like(const GenerateOptions& options, const Rng& rng);

}  // namespace berth::trace
