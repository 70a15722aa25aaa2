// Calendar times of traces, to Unix time. A time without an offset is taken as UTC: nothing else
// can be known, and differences within a trace stay right but for changes of the clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace berth {

inline constexpr TimeUs kFirstInstantUs = 31'536'000 * kUsPerS;   // 1971-01-01
inline constexpr TimeUs kEndInstantUs = 7'258'118'400 * kUsPerS;  // 2200-01-01

// "YYYY-MM-DD[ T]HH:MM[:SS[.fraction]][ ][Z|UTC|+HH[[:]MM]]", or the date alone; nothing for
// anything else, days that do not exist included. Years 0001 to 9999; second 60 is allowed.
[[nodiscard]] std::optional<TimeUs> parse_datetime(std::string_view text);

// "2017-10-03T08:00:00Z", with a fraction only where there is one.
[[nodiscard]] std::string format_utc(TimeUs unix_us);

}  // namespace berth
