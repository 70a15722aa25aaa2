// What a trace is like, in figures: counts, sums and quantiles.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "base/time.h"
#include "trace/trace.h"

namespace berth::trace {

// Of the values that are known. A quantile is a value that occurs: the smallest one with at least
// that share of the values at or below it (nearest rank).
struct Quantiles {
  static constexpr std::array<int, 7> kPercents{10, 25, 50, 75, 90, 95, 99};

  std::uint64_t known = 0;
  std::uint64_t unknown = 0;
  MaybeInt min;
  MaybeInt max;
  std::array<MaybeInt, kPercents.size()> at;  // of kPercents
  double mean = 0;                            // of no meaning when known is 0
};

// Reorders `values`; `unknown` is only passed on.
[[nodiscard]] Quantiles quantiles_of(std::vector<std::int64_t>& values, std::uint64_t unknown);

struct GroupSummary {
  std::string name;  // "" for the jobs without one
  std::uint64_t jobs = 0;
  double gpu_hours = 0;
};

struct TraceSummary {
  std::uint64_t jobs = 0;
  std::uint64_t cpu_jobs = 0;         // 0 GPUs
  std::uint64_t unknown_gpus = 0;     // jobs
  std::uint64_t fractional_jobs = 0;  // less than one GPU
  TimeUs first_arrival_us = 0;        // as the input writes it; Unix time for calendar times
  TimeUs span_us = 0;                 // first to last arrival
  double gpu_hours = 0;               // of the jobs whose GPUs and duration are known
  MaybeInt max_gpu_milli;             // unknown if no job has a known number
  Quantiles duration_us;
  Quantiles queue_us;
  Quantiles gpu_milli;
  Quantiles interarrival_us;
  std::uint64_t users = 0;
  std::uint64_t models = 0;
  std::vector<GroupSummary> statuses;  // in the order of EndStatus, those that occur
  std::vector<GroupSummary> vcs;       // by name
};

[[nodiscard]] TraceSummary summarise(const Trace& trace);

}  // namespace berth::trace
