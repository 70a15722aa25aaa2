#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace berth::report {
namespace {

struct TimeUnit {
  double seconds;
  const char* name;
};
constexpr TimeUnit kTimeUnits[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};
constexpr double kTimeSteps[] = {
    1e-3, 1e-2,  0.1,   1,     5,      10,     30,       60,      300,     600,      1800,    3600,
    7200, 21600, 43200, 86400, 172800, 604800, 1.2096e6, 2.592e6, 7.776e6, 1.5552e7, 3.1536e7};
constexpr double kLogTimeMarks[] = {1e-3, 1e-2,  0.1,    1,      10,     60,    600,
                                    3600, 86400, 864000, 8.64e6, 8.64e7, 8.64e8};

std::string time_label(double s) {
  if (s == 0) return "0";
  const auto* const unit = std::ranges::find_if(
      kTimeUnits, [s](const TimeUnit& u) { return std::abs(s) >= u.seconds * 0.9999; });
  if (unit == std::end(kTimeUnits)) return fmt::format("{:.3g} s", s);
  return fmt::format("{} {}", short_number(s / unit->seconds), unit->name);
}

std::string label_of(const Axis& axis, double value) {
  return axis.unit == AxisUnit::kSeconds ? time_label(value) : short_number(value);
}

// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * 0.9999) return factor * power;
  }
  return 10 * power;
}

double step_of(const Axis& axis, Range range, int wanted) {
  const double least = (range.high - range.low) / wanted;
  if (axis.unit == AxisUnit::kSeconds) {
    const auto* const step = std::ranges::lower_bound(kTimeSteps, least * 0.9999);
    if (step != std::end(kTimeSteps)) return *step;
  }
  return round_step(least);
}

std::vector<Tick> category_ticks(const Axis& axis) {
  std::vector<Tick> out;
  for (std::size_t i = 0; i < axis.categories.size(); ++i) {
    out.push_back({static_cast<double>(i), axis.categories[i]});
  }
  return out;
}

std::vector<Tick> log_ticks(const Axis& axis, Range range, int wanted) {
  std::vector<double> marks(std::begin(kLogTimeMarks), std::end(kLogTimeMarks));
  if (axis.unit == AxisUnit::kNumber) {
    marks.clear();
    const double first = std::floor(std::log10(range.low));
    const double last = std::ceil(std::log10(range.high));
    const double step = std::max(1.0, std::ceil((last - first) / wanted));
    for (double e = first; e <= last; e += step) marks.push_back(std::pow(10, e));
    if (last - first <= 2) {  // few decades: 2 and 5 as well
      const std::vector<double> decades = marks;
      for (const double decade : decades) marks.insert(marks.end(), {2 * decade, 5 * decade});
      std::ranges::sort(marks);
    }
  }
  std::vector<Tick> out;
  for (const double mark : marks) {
    if (mark >= range.low * 0.9999 && mark <= range.high * 1.0001) {
      out.push_back({mark, label_of(axis, mark)});
    }
  }
  return out;
}

}  // namespace

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  for (const auto& [factor, suffix] : std::array<std::pair<double, const char*>, 4>{
           {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}}}) {
    if (std::abs(value) >= factor && std::abs(value) < 1e15) {
      return fmt::format("{:.4g}{}", value / (suffix[0] == 'k' ? 1e3 : factor), suffix);
    }
  }
  return fmt::format("{:.4g}", value);
}

Range axis_range(const Axis& axis, Range data) {
  if (!axis.categories.empty()) {
    return {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
  }
  if (!std::isfinite(data.low) || !std::isfinite(data.high) || data.low > data.high) data = {1, 2};
  if (axis.scale == AxisScale::kLog) {
    if (data.high <= 0) return {0.1, 1};
    data.low = data.low > 0 ? data.low : data.high / 10;
    if (data.high < data.low * 1.01) return {data.low / 2, data.high * 2};
    return data;
  }
  if (axis.from_zero) {
    data.low = std::min(data.low, 0.0);
    data.high = std::max(data.high, 0.0);
  }
  if (data.high - data.low <= 1e-9 * std::max(std::abs(data.low), std::abs(data.high))) {
    const double half = data.low == 0 ? 0.5 : std::abs(data.low) / 2;
    data = {axis.from_zero && data.low >= 0 ? 0 : data.low - half, data.high + half};
  }
  if (axis.tight) return data;
  const double step = step_of(axis, data, 6);
  return {std::floor(data.low / step + 1e-6) * step, std::ceil(data.high / step - 1e-6) * step};
}

std::vector<Tick> ticks(const Axis& axis, Range range, int wanted) {
  if (!axis.categories.empty()) return category_ticks(axis);
  if (axis.scale == AxisScale::kLog) return log_ticks(axis, range, wanted);
  const double step = step_of(axis, range, wanted);
  std::vector<Tick> out;
  const double first = std::ceil(range.low / step - 1e-6);
  const double last = std::floor(range.high / step + 1e-6);
  for (double i = first; i <= last && out.size() < 100; i += 1) {
    const double value = i == 0 ? 0 : i * step;
    out.push_back({value, label_of(axis, value)});
  }
  return out;
}

}  // namespace berth::report
