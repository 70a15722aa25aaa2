#include "base/number.h"

#include <charconv>
#include <cmath>

namespace berth {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;  // value = digits / 10^scale
  int scale = 0;
};

// A plain decimal of at most 18 digits; nothing otherwise (exponents and long numbers go through
// double).
std::optional<Decimal> plain_decimal(std::string_view text) {
  constexpr std::ptrdiff_t kMostDigits = 18;
  Decimal out;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    out.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const char* const end = text.data() + text.size();
  const char* point = end;
  std::uint64_t digits = 0;  // wraps around if there are too many, which is found below
  for (const char* at = text.data(); at != end; ++at) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit <= 9) {
      digits = digits * 10 + digit;
    } else if (*at == '.' && point == end) {
      point = at;
    } else {
      return std::nullopt;
    }
  }
  const bool has_point = point != end;
  const std::ptrdiff_t count = end - text.data() - (has_point ? 1 : 0);
  if (count == 0 || count > kMostDigits) return std::nullopt;
  out.digits = digits;
  out.scale = has_point ? static_cast<int>(end - point) - 1 : 0;
  return out;
}

constexpr std::int64_t kPowersOfTen[] = {1,
                                         10,
                                         100,
                                         1'000,
                                         10'000,
                                         100'000,
                                         1'000'000,
                                         10'000'000,
                                         100'000'000,
                                         1'000'000'000,
                                         10'000'000'000,
                                         100'000'000'000,
                                         1'000'000'000'000,
                                         10'000'000'000'000,
                                         100'000'000'000'000,
                                         1'000'000'000'000'000,
                                         10'000'000'000'000'000,
                                         100'000'000'000'000'000,
                                         1'000'000'000'000'000'000};

}  // namespace

std::optional<std::int64_t> parse_int(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && is_digit(text[1])) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && (is_digit(text[1]) || text[1] == '.')) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<TimeUs> parse_seconds_us(std::string_view text) {
  if (const auto decimal = plain_decimal(text)) {
    const auto& [negative, digits, scale] = *decimal;
    std::int64_t us = 0;
    if (scale <= 6) {
      const std::int64_t factor = kPowersOfTen[6 - scale];
      if (digits > static_cast<std::uint64_t>(kNever / factor)) return std::nullopt;
      us = static_cast<std::int64_t>(digits) * factor;
    } else {
      const std::int64_t divisor = kPowersOfTen[scale - 6];
      us = (static_cast<std::int64_t>(digits) + divisor / 2) / divisor;
    }
    return negative ? -us : us;
  }
  const auto value = parse_number(text);
  return value ? us_from_seconds(*value) : std::nullopt;
}

std::optional<TimeUs> parse_duration_us(std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  constexpr std::int64_t kLargest = 86400;
  std::int64_t unit = 1;
  for (const auto& [letter, unit_s] : kUnits) {
    if (!text.ends_with(letter)) continue;
    unit = unit_s;
    text.remove_suffix(1);
    break;
  }
  const auto us = parse_seconds_us(text);
  if (!us || *us < 0 || *us >= kNever / (kLargest * 4)) return std::nullopt;
  return *us * unit;
}

std::optional<std::int64_t> parse_milli(std::string_view text) {
  if (const auto decimal = plain_decimal(text)) {
    const auto& [negative, digits, scale] = *decimal;
    std::int64_t milli = 0;
    if (scale <= 3) {
      const std::int64_t factor = kPowersOfTen[3 - scale];
      if (digits > static_cast<std::uint64_t>(kNever / factor)) return std::nullopt;
      milli = static_cast<std::int64_t>(digits) * factor;
    } else {
      const std::int64_t divisor = kPowersOfTen[scale - 3];
      if (static_cast<std::int64_t>(digits) % divisor != 0) return std::nullopt;
      milli = static_cast<std::int64_t>(digits) / divisor;
    }
    return negative ? -milli : milli;
  }
  const auto value = parse_number(text);
  if (!value) return std::nullopt;
  const double milli = *value * 1000.0;
  if (std::abs(milli) > 9e15 || milli != std::floor(milli)) return std::nullopt;
  return static_cast<std::int64_t>(milli);
}

}  // namespace berth
