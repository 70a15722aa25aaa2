// What a cell of a co-location table may hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::interference {

enum class CellKind : std::uint8_t {
  kNumber,
  kMissing,   // empty, or what GPU tools write for "cannot be measured": "[Not Supported]", "N/A"
  kInfinite,  // "inf": something was divided by zero
  kText,      // not a number
};

struct Cell {
  CellKind kind = CellKind::kMissing;
  double value = 0;       // of kNumber; finite
  std::string_view unit;  // "%", "MiB", or ""
};

// "0.5", "1e+05", "45.2 W", "85 %", "[N/A]", ...; `decimal_comma`: "0,5" too.
[[nodiscard]] Cell parse_cell(std::string_view text, bool decimal_comma = false);

// At every + that joins; the one in "1e+05" does not.
[[nodiscard]] std::vector<std::string_view> split_joined(std::string_view text);

}  // namespace berth::interference
