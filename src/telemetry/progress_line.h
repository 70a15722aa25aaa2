// One line of a progress file.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/progress_log.h"

namespace berth::telemetry {

// Beyond it no iteration is meant.
inline constexpr std::int64_t kMostIterations = 1'000'000'000'000'000;
inline constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10U;

// "" where it was understood; else what is wrong with it, for people.
[[nodiscard]] std::string read_progress_line(std::string_view line, ProgressPoint& out);

// Seconds since 1970 in microseconds; nothing if no clock says so.
[[nodiscard]] std::optional<std::int64_t> unix_us_from_seconds(double seconds);

}  // namespace berth::telemetry
