// Where the marks of an axis stand and what they say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::report {

enum class AxisScale : std::uint8_t { kLinear, kLog };
enum class AxisUnit : std::uint8_t {
  kNumber,
  kSeconds,  // values are seconds; marks say "10 min", "2 d"
};

struct Axis {
  std::string label = {};
  AxisScale scale = AxisScale::kLinear;
  AxisUnit unit = AxisUnit::kNumber;
  std::vector<std::string> categories = {};  // names for 0, 1, 2, ...; replaces scale and unit
  bool tight = false;                        // a linear axis ends where the data do
  bool from_zero = false;                    // a linear axis starts at 0 although the data do not
};

// An interval of an axis. low < high, and 0 < low on a logarithmic scale.
struct Range {
  double low = 0;
  double high = 1;
};

struct Tick {
  double value = 0;
  std::string label = {};
};

// `data` widened to round numbers (linear) and made valid: never empty, positive on a log scale.
[[nodiscard]] Range axis_range(const Axis& axis, Range data);
// Marks within the range, in rising order, about `wanted` of them.
[[nodiscard]] std::vector<Tick> ticks(const Axis& axis, Range range, int wanted);
// "12.5k": at most four significant digits.
[[nodiscard]] std::string short_number(double value);

}  // namespace berth::report
