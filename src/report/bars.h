// Horizontal bars for a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace berth {

struct Bar {
  std::string label;
  double value = 0;  // its length; not finite or not above 0: no bar
  std::string text;  // what is written after it
};

// A line a bar, labels aligned, the longest `width` columns long, each to an eighth of a column.
[[nodiscard]] std::string bars_text(std::span<const Bar> bars, std::size_t width);

}  // namespace berth
