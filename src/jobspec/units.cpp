#include "jobspec/units.h"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "document/fields.h"

namespace berth {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t value;
};

constexpr Unit kSpanUnits[] = {{"d", kUsPerDay}, {"h", kUsPerHour}, {"min", kUsPerMin},
                               {"s", kUsPerS},   {"ms", 1'000},     {"us", 1}};
constexpr Unit kSizeUnits[] = {{"TiB", std::int64_t{1} << 40U},
                               {"GiB", std::int64_t{1} << 30U},
                               {"MiB", std::int64_t{1} << 20U},
                               {"KiB", std::int64_t{1} << 10U},
                               {"B", 1}};
constexpr TimeUs kMostUs = 36'525 * kUsPerDay;

struct Part {
  std::int64_t value = 0;
  std::size_t unit = 0;  // index
};

// Eats "1.5GiB" from the left.
std::optional<Part> eat_part(std::string_view& text, std::span<const Unit> units) {
  const std::size_t number_end = text.find_first_not_of("0123456789.");
  if (number_end == std::string_view::npos) return std::nullopt;
  const auto number = document::parse_decimal(text.substr(0, number_end));
  text.remove_prefix(number_end);
  const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].name != name) continue;
    const auto value = number ? document::scaled(*number, units[i].value) : std::nullopt;
    if (!value) return std::nullopt;
    text.remove_prefix(name.size());
    return Part{*value, i};
  }
  return std::nullopt;
}

std::string in_largest_unit(std::int64_t value, std::span<const Unit> units,
                            std::string_view zero_unit) {
  if (value == 0) return fmt::format("0{}", zero_unit);
  for (const Unit& unit : units) {
    if (value % unit.value == 0) return fmt::format("{}{}", value / unit.value, unit.name);
  }
  return {};  // the last unit divides everything
}

}  // namespace

std::optional<TimeUs> parse_span_us(std::string_view text) {
  TimeUs sum = 0;
  std::size_t next_unit = 0;
  do {
    const auto part = eat_part(text, kSpanUnits);
    if (!part || part->unit < next_unit || part->value > kMostUs - sum) return std::nullopt;
    sum += part->value;
    next_unit = part->unit + 1;
  } while (!text.empty());
  return sum;
}

std::string span_text(TimeUs us) {
  return in_largest_unit(us, kSpanUnits, "s");
}

std::optional<std::int64_t> parse_size_bytes(std::string_view text) {
  const auto part = eat_part(text, kSizeUnits);
  if (!part || !text.empty()) return std::nullopt;
  return part->value;
}

std::string size_text(std::int64_t bytes) {
  return in_largest_unit(bytes, kSizeUnits, "B");
}

}  // namespace berth
