#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/page.h"
#include "report/plot.h"

namespace berth::report {
namespace {

constexpr double kTop = 34;
constexpr double kCharWidth = 6.6;  // of the page's 12 px font, about
constexpr std::size_t kLongestName = 24;

double label_width(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  return kCharWidth * static_cast<double>(std::min(longest, kLongestName)) + 10;
}

Range value_range(const std::vector<double>& values) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    range = {std::min(range.low, value), std::max(range.high, value)};
  }
  return range;
}

int shade(double value, Range range) {
  if (range.high <= range.low) return 5;
  return std::clamp(static_cast<int>((value - range.low) / (range.high - range.low) * 10), 0, 9);
}

class HeatMapWriter {
 public:
  explicit HeatMapWriter(const HeatMap& map)
      : map_(map),
        range_(value_range(map.values)),
        left_(label_width(map.rows)),
        width_(left_ + map.cell_width * static_cast<double>(map.columns.size()) + 10),
        grid_bottom_(kTop + map.cell_height * static_cast<double>(map.rows.size())),
        // Long column names hang down vertically.
        slanted_(label_width(map.columns) - 10 > map.cell_width),
        names_height_(slanted_ ? label_width(map.columns) : 20) {}

  std::string write() {
    const double height = grid_bottom_ + names_height_ + 34;
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
        "aria-label=\"{2}\"><text class=\"t\" x=\"0\" y=\"16\">{2}</text>",
        std::max(width_, 320.0), height, escape_html(map_.title));
    names(out);
    for (std::size_t row = 0; row < map_.rows.size(); ++row) {
      for (std::size_t column = 0; column < map_.columns.size(); ++column) cell(out, row, column);
    }
    key(out);
    return out + "</svg>";
  }

 private:
  [[nodiscard]] double x_of(std::size_t column) const {
    return left_ + map_.cell_width * static_cast<double>(column);
  }
  [[nodiscard]] double y_of(std::size_t row) const {
    return kTop + map_.cell_height * static_cast<double>(row);
  }

  void names(std::string& out) const {
    for (std::size_t row = 0; row < map_.rows.size(); ++row) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left_ - 6,
                         y_of(row) + map_.cell_height / 2.0 + 4,
                         escape_html(map_.rows[row], kLongestName));
    }
    for (std::size_t column = 0; column < map_.columns.size(); ++column) {
      const double x = x_of(column) + map_.cell_width / 2.0;
      const std::string name = escape_html(map_.columns[column], kLongestName);
      if (slanted_) {
        out += fmt::format(
            "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"end\">{}"
            "</text>",
            x + 4, grid_bottom_ + 6, name);
      } else {
        out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", x,
                           grid_bottom_ + 15, name);
      }
    }
  }

  void cell(std::string& out, std::size_t row, std::size_t column) const {
    const std::size_t index = row * map_.columns.size() + column;
    const bool known = index < map_.values.size() && std::isfinite(map_.values[index]);
    const std::string value = known ? short_number(map_.values[index]) : "not known";
    const int step = known ? shade(map_.values[index], range_) : 0;
    out += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"><title>{} / {}: "
        "{}</title></rect>",
        known ? fmt::format("h{}", step) : "hn", x_of(column), y_of(row), map_.cell_width - 1,
        map_.cell_height - 1, escape_html(map_.rows[row], 80),
        escape_html(map_.columns[column], 80), value);
    if (!map_.show_values || !known) return;
    out += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                       step >= 5 ? " class=\"hi\"" : "", x_of(column) + map_.cell_width / 2.0,
                       y_of(row) + map_.cell_height / 2.0 + 4, value);
  }

  // The ten shades with their ends.
  void key(std::string& out) const {
    const double y = grid_bottom_ + names_height_ + 12;
    const bool any = range_.low <= range_.high;
    out += fmt::format("<text class=\"d\" x=\"0\" y=\"{:.1f}\">{} {}</text>", y + 10,
                       escape_html(map_.value_label, 40), any ? short_number(range_.low) : "");
    const double x = 14 + kCharWidth * static_cast<double>(
                                           std::min<std::size_t>(map_.value_label.size(), 40) + 7);
    for (int i = 0; i < 10; ++i) {
      out +=
          fmt::format("<rect class=\"h{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"12\"/>",
                      i, x + 14 * i, y);
    }
    if (any) {
      out += fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 146, y + 10,
                         short_number(range_.high));
    }
  }

  const HeatMap& map_;
  Range range_;
  double left_;
  double width_;
  double grid_bottom_;
  bool slanted_;
  double names_height_;
};

}  // namespace

std::string svg(const HeatMap& map) {
  return HeatMapWriter(map).write();
}

}  // namespace berth::report
