#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "report/page.h"

namespace berth::report {
namespace {

constexpr double kLeast = 68;  // left of the axis
constexpr double kRight = 16;
constexpr double kTop = 34;
constexpr double kBottom = 46;
constexpr double kLegendLine = 18;
constexpr double kCharWidth = 6.6;  // of the page's 12 px font, about
constexpr std::size_t kColours = 8;
constexpr std::size_t kLongestName = 60;

// Maps values of one axis to pixels.
class Scale {
 public:
  Scale(const Axis& axis, Range range, double from, double to)
      : log_(axis.scale == AxisScale::kLog && axis.categories.empty()),
        categories_(!axis.categories.empty()),
        low_(transform(range.low)),
        high_(transform(range.high)),
        from_(from),
        to_(to) {}

  [[nodiscard]] bool shows(double value) const {
    return std::isfinite(value) && (!log_ || value > 0);
  }
  [[nodiscard]] double at(double value) const {
    const double part = (transform(value) - low_) / (high_ - low_);
    return from_ + std::clamp(part, -1.0, 2.0) * (to_ - from_);
  }
  // Where a bar stands on: zero, or the bottom where the axis has no zero.
  [[nodiscard]] double base() const {
    return log_ || categories_
               ? from_
               : from_ + std::clamp(-low_ / (high_ - low_), 0.0, 1.0) * (to_ - from_);
  }

 private:
  [[nodiscard]] double transform(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  bool categories_;
  double low_;
  double high_;
  double from_;
  double to_;
};

void widen(Range& range, const std::vector<double>& values, bool positive_only) {
  for (const double value : values) {
    if (!std::isfinite(value) || (positive_only && value <= 0)) continue;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
}

bool stands_on_zero(const Series& series) {
  return series.mark == Mark::kBars || series.mark == Mark::kArea;
}

struct Ranges {
  Range x;
  Range y;
  bool empty = false;
};

Ranges ranges_of(const Plot& plot) {
  constexpr Range kNothing{std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()};
  Ranges data{kNothing, kNothing, false};
  Axis y_axis = plot.y;
  if (plot.zero_x) data.x = {0, 0};
  for (const Series& series : plot.series) {
    for (const auto* values : {&series.x, &series.x_low, &series.x_high}) {
      widen(data.x, *values, plot.x.scale == AxisScale::kLog);
    }
    for (const auto* values : {&series.y, &series.low, &series.high}) {
      widen(data.y, *values, plot.y.scale == AxisScale::kLog);
    }
    y_axis.from_zero = y_axis.from_zero || stands_on_zero(series);
  }
  if (plot.diagonal) {
    data.x = {std::min(data.x.low, data.y.low), std::max(data.x.high, data.y.high)};
    data.y = data.x;
  }
  const bool empty = data.x.low > data.x.high || data.y.low > data.y.high;
  return {axis_range(plot.x, data.x), axis_range(y_axis, data.y), empty};
}

class PlotWriter {
 public:
  explicit PlotWriter(const Plot& plot)
      : plot_(plot),
        left_(left_of(plot)),
        legend_columns_(legend_columns(plot, plot.width - kRight - left_)),
        legend_(legend_height(plot, legend_columns_)),
        ranges_(ranges_of(plot)),
        x_(plot.x, ranges_.x, left_, plot.width - kRight),
        y_(plot.y, ranges_.y, bottom(), kTop + legend_) {}

  std::string write() {
    open();
    axes();
    legend();
    if (plot_.zero_x) zero_line();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw(plot_.series[i], i);
    if (plot_.diagonal) diagonal();
    if (ranges_.empty) {
      out_ +=
          fmt::format("<text class=\"d\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">no data</text>",
                      plot_.width / 2, plot_.height / 2);
    }
    out_ += "</svg>";
    return std::move(out_);
  }

 private:
  static std::size_t named(const Plot& plot) {
    return static_cast<std::size_t>(
        std::ranges::count_if(plot.series, [](const Series& s) { return !s.name.empty(); }));
  }
  static double left_of(const Plot& plot) {
    std::size_t longest = 0;
    for (const std::string& name : plot.y.categories) longest = std::max(longest, name.size());
    return std::max(plot.y.categories.empty() ? kLeast : 0.0,
                    kCharWidth * static_cast<double>(std::min(longest, kLongestName)) + 16);
  }
  static std::size_t legend_columns(const Plot& plot, double width) {
    std::size_t longest = 0;
    for (const Series& series : plot.series) longest = std::max(longest, series.name.size());
    const double column = kCharWidth * static_cast<double>(std::min(longest, kLongestName)) + 30;
    return std::clamp<std::size_t>(static_cast<std::size_t>(width / column), 1, 4);
  }
  static double legend_height(const Plot& plot, std::size_t columns) {
    const std::size_t lines = (named(plot) + columns - 1) / columns;
    return kLegendLine * static_cast<double>(lines);
  }
  [[nodiscard]] double bottom() const { return plot_.height - kBottom; }
  [[nodiscard]] double right() const { return plot_.width - kRight; }

  void open() {
    out_ = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-label=\"{2}{3}\"><text class=\"t\" x=\"0\" y=\"16\">{2}</text>",
        plot_.width, plot_.height, escape_html(plot_.title),
        plot_.description.empty() ? "" : ". " + escape_html(plot_.description));
  }

  void axes() {
    for (const Tick& tick : ticks(plot_.x, ranges_.x, std::max(2, plot_.width / 90))) {
      const double at = x_.at(tick.value);
      const double half = kCharWidth * static_cast<double>(tick.label.size()) / 2;
      out_ += fmt::format(
          "<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"d\" x=\"{5:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>",
          at, kTop + legend_, bottom(), bottom() + 16, escape_html(tick.label),
          std::min(at, plot_.width - half));
    }
    for (const Tick& tick : ticks(plot_.y, ranges_.y, std::max(2, plot_.height / 50))) {
      const double at = y_.at(tick.value);
      out_ += fmt::format(
          "<line class=\"g\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
          "<text class=\"d\" x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>",
          at, left_, right(), left_ - 6, at + 4, escape_html(tick.label));
    }
    out_ += fmt::format(
        "<line class=\"a\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", left_,
        right(), y_.base());
    if (!plot_.x.label.empty()) {
      out_ +=
          fmt::format("<text class=\"d\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                      (left_ + right()) / 2, plot_.height - 8, escape_html(plot_.x.label));
    }
    if (!plot_.y.label.empty()) {
      out_ += fmt::format(
          "<text class=\"d\" transform=\"translate(13 {:.1f}) rotate(-90)\" "
          "text-anchor=\"middle\">{}</text>",
          (bottom() + kTop + legend_) / 2, escape_html(plot_.y.label));
    }
  }

  static bool is_line(const Series& series) {
    return series.mark == Mark::kLine || series.mark == Mark::kStep;
  }
  // "s3", or "s3 k1" for the second series of that colour.
  static std::string stroke_of(std::size_t series) {
    const std::size_t dashes = std::min<std::size_t>(series / kColours, 2);
    return dashes == 0 ? fmt::format("s{}", series)
                       : fmt::format("s{} k{}", series % kColours, dashes);
  }

  void legend() {
    std::size_t n = 0;
    const double column = (right() - left_) / static_cast<double>(legend_columns_);
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      const Series& series = plot_.series[i];
      if (series.name.empty()) continue;
      const double x = left_ + static_cast<double>(n % legend_columns_) * column;
      const std::size_t row = n / legend_columns_;
      const double y = kTop + static_cast<double>(row) * kLegendLine;
      if (is_line(series)) {
        out_ += fmt::format(
            "<line class=\"l {}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
            stroke_of(i), x - 4, x + 12, y - 1, y - 1);
      } else {
        out_ += fmt::format(
            "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" rx=\"2\"/>",
            i % kColours, x, y - 6);
      }
      out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 16, y + 3,
                          escape_html(series.name, kLongestName));
      ++n;
    }
  }

  void draw(const Series& series, std::size_t index) {
    const std::size_t colour = index % kColours;
    switch (series.mark) {
      case Mark::kLine:
      case Mark::kStep:
        line(series, index);
        break;
      case Mark::kArea:
        area(series, colour);
        break;
      case Mark::kPoints:
        points(series, colour);
        break;
      case Mark::kBars:
        bars(series, colour);
        break;
    }
    whiskers(series, colour);
    x_whiskers(series, colour);
  }

  [[nodiscard]] bool shows(const Series& series, std::size_t i) const {
    return i < series.x.size() && x_.shows(series.x[i]) && y_.shows(series.y[i]);
  }

  void line(const Series& series, std::size_t index) {
    std::string path;
    bool pen_down = false;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!shows(series, i)) {
        pen_down = false;
        continue;
      }
      const double x = x_.at(series.x[i]);
      const double y = y_.at(series.y[i]);
      if (pen_down && series.mark == Mark::kStep) {
        path += fmt::format("H{:.1f}V{:.1f}", x, y);
      } else {
        path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', x, y);
      }
      pen_down = true;
    }
    const std::string drawn =
        fmt::format("<path class=\"l {}\" d=\"{}\"/>", stroke_of(index), path);
    if (series.name.empty()) {
      out_ += drawn;
      return;
    }
    // A thin line is hard to point at: a wide one that is not seen carries its name.
    out_ += fmt::format("<g><title>{}</title>{}<path class=\"p\" d=\"{}\"/></g>",
                        escape_html(series.name), drawn, path);
  }

  void area(const Series& series, std::size_t colour) {
    std::string path = fmt::format("M{:.1f} {:.1f}", left_, y_.base());
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!shows(series, i)) continue;
      path += fmt::format("H{:.1f}V{:.1f}", x_.at(series.x[i]), y_.at(series.y[i]));
    }
    path += fmt::format("V{:.1f}Z", y_.base());
    out_ += fmt::format("<path class=\"f{}\" d=\"{}\"/>", colour, path);
  }

  void points(const Series& series, std::size_t colour) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!shows(series, i)) continue;
      out_ += fmt::format(
          "<circle class=\"f{}\" fill-opacity=\"0.7\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\">{}"
          "</circle>",
          colour, x_.at(series.x[i]), y_.at(series.y[i]), tooltip(series, i));
    }
  }

  // Left and right of bar i: between edges, or its share of the category's width.
  [[nodiscard]] std::pair<double, double> bar_sides(const Series& series, std::size_t i) const {
    if (plot_.x.categories.empty()) {
      const double left = x_.at(series.x[i]);
      const double right = i + 1 < series.x.size() ? x_.at(series.x[i + 1]) : left + 2;
      return {left, right};
    }
    double groups = 0;
    double group = 0;
    for (const Series& other : plot_.series) {
      if (&other == &series) group = groups;
      groups += other.mark == Mark::kBars ? 1 : 0;
    }
    const double left = series.x[i] - 0.4 + 0.8 * group / groups;
    return {x_.at(left), x_.at(left + 0.8 / groups)};
  }

  void bars(const Series& series, std::size_t colour) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!shows(series, i)) continue;
      const auto [left, right] = bar_sides(series, i);
      const double y = y_.at(series.y[i]);
      const double top = std::min(y, y_.base());
      out_ += fmt::format(
          "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}"
          "</rect>",
          colour, left, top, std::max(0.5, right - left - 0.5), std::abs(y - y_.base()),
          tooltip(series, i));
    }
  }

  void whiskers(const Series& series, std::size_t colour) {
    for (std::size_t i = 0; i < std::min(series.low.size(), series.high.size()); ++i) {
      if (i >= series.y.size() || !shows(series, i)) continue;
      if (!y_.shows(series.low[i]) || !y_.shows(series.high[i])) continue;
      double x = x_.at(series.x[i]);
      if (series.mark == Mark::kBars) {
        const auto [left, right] = bar_sides(series, i);
        x = (left + right) / 2;
      }
      const char* const stroke = series.mark == Mark::kBars ? "a" : "w";
      const double low = y_.at(series.low[i]);
      const double high = y_.at(series.high[i]);
      out_ += fmt::format(
          "<path class=\"{} s{}\" style=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}h8M{:.1f} "
          "{:.1f}h8\"/>",
          stroke, colour, series.mark == Mark::kBars ? "stroke:var(--fg)" : "", x, low, high, x - 4,
          low, x - 4, high);
    }
  }

  // Of points along x, with their caps.
  void x_whiskers(const Series& series, std::size_t colour) {
    for (std::size_t i = 0; i < std::min(series.x_low.size(), series.x_high.size()); ++i) {
      if (i >= series.y.size() || !shows(series, i)) continue;
      if (!x_.shows(series.x_low[i]) || !x_.shows(series.x_high[i])) continue;
      const double y = y_.at(series.y[i]);
      const double low = x_.at(series.x_low[i]);
      const double high = x_.at(series.x_high[i]);
      out_ += fmt::format(
          "<path class=\"w s{}\" d=\"M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}v8M{:.1f} {:.1f}v8\"/>",
          colour, low, y, high, low, y - 4, high, y - 4);
    }
  }

  void zero_line() {
    out_ += fmt::format(
        "<line class=\"z\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>", x_.at(0),
        kTop + legend_, bottom());
  }

  void diagonal() {
    out_ += fmt::format(
        "<line class=\"r\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
        x_.at(ranges_.x.low), y_.at(ranges_.x.low), x_.at(ranges_.x.high), y_.at(ranges_.x.high));
  }

  static std::string tooltip(const Series& series, std::size_t i) {
    if (i >= series.tooltip.size()) return {};
    return fmt::format("<title>{}</title>", escape_html(series.tooltip[i]));
  }

  const Plot& plot_;
  double left_;
  std::size_t legend_columns_;
  double legend_;
  Ranges ranges_;
  Scale x_;
  Scale y_;
  std::string out_;
};

}  // namespace

std::string svg(const Plot& plot) {
  return PlotWriter(plot).write();
}

Series cdf(std::string name, std::vector<double> values, std::size_t points) {
  Series out{.name = std::move(name), .mark = Mark::kStep};
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::ranges::sort(values);
  const std::size_t n = values.size();
  points = std::min(points, n);
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t at = (i + 1) * n / points - 1;
    out.x.push_back(values[at]);
    out.y.push_back(static_cast<double>(at + 1) / static_cast<double>(n));
  }
  return out;
}

Series histogram(std::string name, std::span<const double> values, int bins, AxisScale scale) {
  Series out{.name = std::move(name), .mark = Mark::kBars};
  const bool log = scale == AxisScale::kLog;
  std::vector<double> kept;
  for (const double value : values) {
    if (std::isfinite(value) && (!log || value > 0)) kept.push_back(log ? std::log(value) : value);
  }
  if (kept.empty() || bins < 1) return out;
  const auto [low, high] = std::ranges::minmax(kept);
  const double width = high > low ? (high - low) / bins : 1;
  for (int i = 0; i <= bins; ++i) {
    const double edge = low + width * i;
    out.x.push_back(log ? std::exp(edge) : edge);
  }
  out.y.assign(static_cast<std::size_t>(bins), 0);
  for (const double value : kept) {
    const auto bin = static_cast<std::size_t>((value - low) / width);
    out.y[std::min(bin, out.y.size() - 1)] += 1;
  }
  for (std::size_t i = 0; i < out.y.size(); ++i) {
    out.tooltip.push_back(fmt::format("{} to {}: {}", short_number(out.x[i]),
                                      short_number(out.x[i + 1]), short_number(out.y[i])));
  }
  return out;
}

}  // namespace berth::report
