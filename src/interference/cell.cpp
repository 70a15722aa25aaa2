#include "interference/cell.h"

#include <algorithm>
#include <array>

#include "base/number.h"
#include "trace/values.h"

namespace berth::interference {
namespace {

// Nothing that is measured or counted is larger; squares of what is must stay finite.
constexpr double kLargest = 1e30;
constexpr std::size_t kLongestUnit = 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// nvidia-smi puts what is not a figure in brackets: "[N/A]", "[Not Supported]", "[Unknown Error]".
bool not_measured(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) return true;
  constexpr std::array<std::string_view, 7> kWords{
      "not supported", "unknown error", "err!", "#n/a", "insufficient permissions",
      "not available", "no data"};
  const std::string word = lower(text);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool infinite(std::string_view text) {
  std::string word = lower(text);
  if (word.starts_with('+') || word.starts_with('-')) word.erase(0, 1);
  return word == "inf" || word == "infinity";
}

// Where the number ends and a unit starts; a unit has no digits and is short.
std::size_t unit_start(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1]) && text[end - 1] != '.' &&
         text.size() - end < kLongestUnit) {
    --end;
  }
  return end;
}

}  // namespace

Cell parse_cell(std::string_view text, bool decimal_comma) {
  text = trim(text);
  if (trace::is_missing(text) || not_measured(text)) return {};
  if (infinite(text)) return {CellKind::kInfinite, 0, {}};
  const std::size_t end = unit_start(text);
  Cell cell{CellKind::kText, 0, trim(text.substr(end))};
  std::string_view digits = trim(text.substr(0, end));
  std::string with_point;
  if (decimal_comma && digits.find('.') == std::string_view::npos) {
    with_point = digits;
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    digits = with_point;
  }
  const auto number = parse_number(digits);
  if (!number || *number > kLargest || *number < -kLargest) return cell;
  cell.kind = CellKind::kNumber;
  cell.value = *number;
  return cell;
}

std::vector<std::string_view> split_joined(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '+') continue;
    const bool exponent = i >= 2 && (text[i - 1] == 'e' || text[i - 1] == 'E') &&
                          (is_digit(text[i - 2]) || text[i - 2] == '.') && i + 1 < text.size() &&
                          is_digit(text[i + 1]);
    if (exponent || i == start) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

}  // namespace berth::interference
