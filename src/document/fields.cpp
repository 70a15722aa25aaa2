#include "document/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/int128.h"
#include "base/text.h"

namespace berth::document {
namespace {

constexpr int kMostDigits = 18;  // fit into 64 bits

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::optional<std::int64_t> narrow(Int128 value) {
  if (value > std::numeric_limits<std::int64_t>::max() ||
      value < std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

std::string shown(const Node& node) {
  switch (node.kind) {
    case Kind::kNothing:
      return "nothing";
    case Kind::kMap:
      return "a map";
    case Kind::kList:
      return node.children.empty() ? "an empty list" : "a list";
    case Kind::kPlain:
    case Kind::kQuoted:
      break;
  }
  return "'" + node.text + "'";
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  if (point != std::string_view::npos && fraction.empty()) return std::nullopt;
  if (whole.size() + fraction.size() > kMostDigits) return std::nullopt;
  Decimal out;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      if (!is_digit(c)) return std::nullopt;
      out.digits = out.digits * 10 + (c - '0');
    }
  }
  if (negative) out.digits = -out.digits;
  out.scale = static_cast<int>(fraction.size());
  return out;
}

std::optional<std::int64_t> scaled(Decimal value, std::int64_t factor) {
  const Int128 product = static_cast<Int128>(value.digits) * factor;
  const std::int64_t divisor = power_of_ten(value.scale);
  if (product % divisor != 0) return std::nullopt;
  return narrow(product / divisor);
}

std::optional<std::int64_t> scaled_nearest(Decimal value, std::int64_t factor) {
  const Int128 product = static_cast<Int128>(value.digits) * factor;
  const std::int64_t divisor = power_of_ten(value.scale);
  const std::int64_t half = product < 0 ? -(divisor / 2) : divisor / 2;
  return narrow((product + half) / divisor);
}

tl::unexpected<Error> Fields::wrong(const Node& at, std::string field, std::string expected) const {
  return fail(
      bad_input(file_, at.line, std::move(field), "not valid", shown(at), std::move(expected)));
}

Error Fields::unknown_key(const Node& entry, const std::vector<std::string_view>& known) const {
  constexpr std::size_t kLongList = 8;
  std::string message;
  if (keys_page_.empty() || known.size() <= kLongList) {
    message = unknown_name("key", entry.key, known);
  } else {
    message = unknown_name("key", entry.key, {});
    if (const auto nearest = nearest_name(entry.key, known); !nearest.empty()) {
      message += fmt::format("; did you mean '{}'?", nearest);
    }
    message += fmt::format(" (all keys: {})", keys_page_);
  }
  return bad_input(file_, entry.key_line, entry.key, std::move(message));
}

Status Fields::known_keys(const Node& map, std::string_view field,
                          const std::vector<std::string_view>& known) const {
  if (map.kind != Kind::kMap) {
    return wrong(map, std::string(field), fmt::format("a map of {}", fmt::join(known, ", ")));
  }
  for (const Node& entry : map.children) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      return fail(unknown_key(entry, known));
    }
  }
  return {};
}

}  // namespace berth::document
