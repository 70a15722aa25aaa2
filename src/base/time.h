// Time is integer microseconds. Instants count from the start of the run (the first arrival of a
// trace, or the start of the daemon); seconds as floating point exist only at the edge.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace berth {

using TimeUs = std::int64_t;

inline constexpr TimeUs kUsPerS = 1'000'000;
inline constexpr TimeUs kUsPerMin = 60 * kUsPerS;
inline constexpr TimeUs kUsPerHour = 3600 * kUsPerS;
inline constexpr TimeUs kUsPerDay = 24 * kUsPerHour;
// Far future: larger than any instant (about 146,000 years), and small enough to add to.
inline constexpr TimeUs kNever = std::numeric_limits<TimeUs>::max() / 2;

[[nodiscard]] constexpr double seconds(TimeUs us) {
  return static_cast<double>(us) / 1e6;
}

// Nearest microsecond; nothing if not finite or beyond +-kNever.
[[nodiscard]] inline std::optional<TimeUs> us_from_seconds(double s) {
  const double us = s * 1e6;
  if (!(std::abs(us) < static_cast<double>(kNever))) return std::nullopt;
  return static_cast<TimeUs>(std::llround(us));
}

}  // namespace berth
