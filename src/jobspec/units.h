// Lengths of time and sizes as people write them: always with a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace berth {

inline constexpr const char* kSpanExample = "a time with its unit, as in 2h, 90min, 30s or 1h30min";
inline constexpr const char* kSizeExample = "a size with its unit, as in 16GiB or 500MiB";

// "2h", "90min", "1d12h", "1.5s", "250ms", "10us"; units fall and each is there once. Whole
// microseconds, at most 100 years. "m" may be minutes, months or thousandths: it is none.
[[nodiscard]] std::optional<TimeUs> parse_span_us(std::string_view text);
// In the largest unit that divides it; read back equal. `us` is not negative.
[[nodiscard]] std::string span_text(TimeUs us);

// "16GiB", "1.5TiB", "500MiB", "64KiB", "100B": whole bytes. GB and G may be powers of 1000 or of
// 1024: they are none.
[[nodiscard]] std::optional<std::int64_t> parse_size_bytes(std::string_view text);
// In the largest unit that divides it; read back equal. `bytes` is not negative.
[[nodiscard]] std::string size_text(std::int64_t bytes);

}  // namespace berth
