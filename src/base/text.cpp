#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/result.h"

namespace berth {
namespace {

// Optimal string alignment distance: insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    // "backfill" for "fifo-backfill": part of a name is near it.
    if (word.size() >= 3 && candidate.find(word) != std::string_view::npos) {
      distance = std::min<std::size_t>(distance, 2);
    }
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view word,
                         std::span<const std::string_view> candidates) {
  std::string out = fmt::format("unknown {} '{}'", what, printable(word));
  const auto nearest = nearest_name(word, candidates);
  if (!nearest.empty()) out += fmt::format("; did you mean '{}'?", nearest);
  if (!candidates.empty() && candidates.size() <= 40) {
    out += fmt::format(" (one of: {})", fmt::join(candidates, ", "));
  }
  return out;
}

std::string human_duration(TimeUs us) {
  if (us < 0) return "-" + human_duration(-us);
  if (us < 1000) return fmt::format("{} us", us);
  if (us < kUsPerS) return fmt::format("{:.3g} ms", static_cast<double>(us) / 1e3);
  if (us < kUsPerMin) return fmt::format("{:.3g} s", seconds(us));
  const auto total_s = (us + kUsPerS / 2) / kUsPerS;
  if (us < kUsPerHour) return fmt::format("{} min {:02} s", total_s / 60, total_s % 60);
  if (us < 2 * kUsPerDay) return fmt::format("{} h {:02} min", total_s / 3600, total_s / 60 % 60);
  return fmt::format("{} d {:02} h", total_s / 86400, total_s / 3600 % 24);
}

std::string with_thousands(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string counted(std::uint64_t n, std::string_view noun, std::string_view plural) {
  const std::string number = with_thousands(static_cast<std::int64_t>(n));
  if (n == 1 || plural.empty()) return fmt::format("{} {}{}", number, noun, n == 1 ? "" : "s");
  return fmt::format("{} {}", number, plural);
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace berth
