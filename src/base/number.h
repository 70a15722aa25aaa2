// Numbers from text, the same in every locale, whole field or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace berth {

// Space, tab, CR, LF; a no-break space is none.
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
// Without blanks at both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Decimal integer with optional sign; nothing on an empty or partly read field or overflow.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);
// Finite decimal number (fixed or scientific, optional +, ".5" and "5." allowed). "nan", "inf" and
// hexadecimal forms are refused.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
// Seconds as decimal text to the nearest microsecond, exact (no binary rounding) for plain
// decimals.
[[nodiscard]] std::optional<TimeUs> parse_seconds_us(std::string_view text);
// "90", "90s", "15m", "12h", "7d": not negative, at most about 400 years.
[[nodiscard]] std::optional<TimeUs> parse_duration_us(std::string_view text);
// A count of thousandths: "0.5" is 500, "2" is 2000. Nothing if finer than a thousandth.
[[nodiscard]] std::optional<std::int64_t> parse_milli(std::string_view text);

}  // namespace berth
