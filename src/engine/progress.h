// How far jobs are: exact integers, so that the twin, every compiler and arithmetic by hand agree.
#pragma once

#include <cstdint>

#include "base/int128.h"
#include "base/time.h"
#include "engine/iteration.h"

namespace berth {

// Work: an iteration is 2^72 units. So fine that a rate in whole units per microsecond is off by
// less than 1e-8 us in a run of ten days with iterations of 40 s, and yet jobs of 100 years fit.
using WorkUnits = Int128;
inline constexpr int kUnitBits = 72;
inline constexpr WorkUnits kIteration = WorkUnits{1} << kUnitBits;

[[nodiscard]] inline WorkUnits units_of(std::int64_t iterations) {
  return static_cast<WorkUnits>(iterations) << kUnitBits;
}
// Whole iterations.
[[nodiscard]] inline std::int64_t iterations_of(WorkUnits units) {
  return static_cast<std::int64_t>(units >> kUnitBits);
}

// Units per microsecond of a replica whose iterations take this long. Rounded up, so that a job
// whose end falls on a whole microsecond ends there.
[[nodiscard]] inline WorkUnits rate_of(Picoseconds iteration) {
  if (iteration == kPicosecondsPerUs) return kIteration;
  return divide_up(kIteration * kPicosecondsPerUs, iteration);
}

// For people and policies: iterations per second, of a rate and of an iteration's time.
[[nodiscard]] inline double per_s_of(WorkUnits rate) {
  return static_cast<double>(rate) / static_cast<double>(kIteration) * static_cast<double>(kUsPerS);
}
[[nodiscard]] inline double per_s_of(Picoseconds iteration) {
  if (iteration == 0) return 0.0;
  return static_cast<double>(kPicosecondsPerS) / static_cast<double>(iteration);
}

// From now to the end of so much work, rounded up to the microsecond; kNever without a rate.
[[nodiscard]] inline TimeUs time_for(WorkUnits work, WorkUnits rate) {
  if (work <= 0) return 0;
  if (rate <= 0) return kNever;
  const WorkUnits us =
      rate == kIteration ? (work + kIteration - 1) >> kUnitBits : divide_up(work, rate);
  return us < kNever ? static_cast<TimeUs>(us) : kNever;
}

}  // namespace berth
