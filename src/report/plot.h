// Plots as SVG text. They take their colours from the page (page.h): light and dark.
//
// Values that are not finite are left out (a line breaks there). Points outside a logarithmic axis
// (zero or less) are left out. The same plot gives the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/axis.h"

namespace berth::report {

enum class Mark : std::uint8_t {
  kLine,
  kStep,    // y[i] holds from x[i] to x[i+1]
  kArea,    // a step filled down to 0
  kPoints,  // a scatter
  kBars,    // y[i] between x[i] and x[i+1] (x has one more value); by category: x = 0, 1, 2, ...
};

struct Series {
  std::string name = {};  // in the legend; "": not there
  Mark mark = Mark::kLine;
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> low = {};           // whiskers along y, as long as y, or empty
  std::vector<double> high = {};          //
  std::vector<double> x_low = {};         // whiskers along x, of points
  std::vector<double> x_high = {};        //
  std::vector<std::string> tooltip = {};  // of points and bars: as long as y, or empty
};

// The first eight series differ in colour, the next eight by dashes as well.
struct Plot {
  std::string title = {};
  std::string description = {};  // for those who do not see it, after the title
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  bool diagonal = false;  // the line y = x, for predicted against measured
  bool zero_x = false;    // the line x = 0, which is in sight then
  int width = 720;
  int height = 320;
};

// A grid of cells, first row on top. Missing values (NaN) are hatched.
struct HeatMap {
  std::string title = {};
  std::string value_label = {};
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  std::vector<double> values = {};  // row by row
  bool show_values = false;         // written into the cells
  int cell_width = 26;
  int cell_height = 20;
};

[[nodiscard]] std::string svg(const Plot& plot);
[[nodiscard]] std::string svg(const HeatMap& map);

// Share of the values at or below each: a step line of at most `points` points.
[[nodiscard]] Series cdf(std::string name, std::vector<double> values, std::size_t points = 400);
// Values counted in `bins` equal bins of the (logarithmic) range they span.
[[nodiscard]] Series histogram(std::string name, std::span<const double> values, int bins,
                               AxisScale scale);

}  // namespace berth::report
