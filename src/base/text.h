// Small helpers for words people read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace berth {

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// The candidate nearest to `word` (Damerau-Levenshtein), or empty if none is near enough to be what
// was meant.
[[nodiscard]] std::string_view nearest_name(std::string_view word,
                                            std::span<const std::string_view> candidates);

// "unknown policy 'fifp'; did you mean 'fifo'? (one of: ...)".
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view word,
                                       std::span<const std::string_view> candidates);

// "3 d 04:05", "2 h 13 min", "41.3 s": for people, three significant figures or so.
[[nodiscard]] std::string human_duration(TimeUs us);
// "111,549".
[[nodiscard]] std::string with_thousands(std::int64_t value);

// "1 job", "111,549 jobs"; `plural` where an s does not make it.
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view noun,
                                  std::string_view plural = {});

// A cell of a CSV file, quoted where it must be (RFC 4180).
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace berth
