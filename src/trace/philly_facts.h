// Quantiles and counts of Microsoft's Philly trace (Jeon et al., ATC '19), computed from the copy
// with 111,549 jobs that RFold publishes. They are what the generator draws from; no row of the
// trace is here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/cdf.h"

namespace berth::trace::philly {

inline constexpr std::int64_t kClusterGpus = 2490;  // of the published machine list

// Whole seconds between arrivals over the 89 days from 24 September 2017 on, which hold 99.7 % of
// the jobs (before, the cluster was being filled). Gaps above four hours (1 in 20,000) are left
// out.
[[nodiscard]] std::span<const CdfPoint> gap_cdf();

// Arrivals per hour relative to the mean, each hour of the trace counted up to 150 arrivals, so
// that single sweeps of thousands of jobs do not pass for a rhythm. On the trace's own clock.
inline constexpr std::array<double, 7> kDayRate = {0.958, 1.190, 1.222, 1.201,
                                                   1.301, 0.633, 0.496};  // from Monday
inline constexpr std::array<double, 24> kHourRate = {
    1.190, 1.023, 1.168, 1.062, 0.987, 1.194, 1.406, 1.478, 1.122, 1.034, 0.928, 0.791,
    0.712, 0.723, 0.590, 0.669, 0.885, 0.882, 0.964, 0.933, 0.948, 0.978, 1.140, 1.194};

struct SizeCount {
  std::int64_t gpus;
  std::uint32_t jobs;
};
[[nodiscard]] std::span<const SizeCount> size_counts();

// Durations of the jobs of about that many GPUs, in seconds, at least 1.
[[nodiscard]] std::span<const CdfPoint> duration_cdf(std::int64_t gpus);

struct VcCount {
  std::string_view name;  // as published
  std::uint32_t jobs;
};
// Jobs per virtual cluster where it is known (82,025 jobs).
[[nodiscard]] std::span<const VcCount> vc_counts();
// Share of consecutive jobs of one virtual cluster beyond what independent draws would give.
inline constexpr double kVcStickiness = 0.70;

}  // namespace berth::trace::philly
