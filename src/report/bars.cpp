#include "report/bars.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/table.h"

namespace berth {
namespace {

bool has_length(const Bar& bar) {
  return std::isfinite(bar.value) && bar.value > 0;
}

// Block characters; at least an eighth, so that a small value is seen.
std::string blocks(std::size_t eighths) {
  constexpr std::string_view kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out += kParts[eighths % 8];
}

}  // namespace

std::string bars_text(std::span<const Bar> bars, std::size_t width) {
  double longest = 0;
  std::size_t label_width = 0;
  for (const Bar& bar : bars) {
    if (has_length(bar)) longest = std::max(longest, bar.value);
    label_width = std::max(label_width, display_width(bar.label));
  }
  std::string out;
  for (const Bar& bar : bars) {
    out += bar.label + std::string(label_width - display_width(bar.label) + 2, ' ');
    if (has_length(bar)) {
      const double eighths = bar.value / longest * static_cast<double>(8 * width);
      out +=
          blocks(std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(eighths)))) + ' ';
    }
    out += bar.text + '\n';
  }
  return out;
}

}  // namespace berth
