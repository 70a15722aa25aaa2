#include "report/aip_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/table.h"

namespace berth::report {
namespace {

namespace inf = interference;

constexpr std::size_t kMostHeatJobs = 60;
constexpr std::size_t kCoverageBins = 5;

// Techniques in rows, categories in columns.
struct ErrorTable {
  std::vector<std::string> header{"technique"};
  std::vector<std::vector<std::string>> rows;
};

ErrorTable error_table(const inf::AipResult& aip) {
  ErrorTable out;
  std::vector<inf::Category> categories;
  std::map<std::string, std::size_t> row_of;
  for (const inf::AipCell& cell : aip.cells) {
    if (std::find(categories.begin(), categories.end(), cell.category) == categories.end()) {
      categories.push_back(cell.category);
      out.header.emplace_back(inf::category_name(cell.category));
    }
  }
  for (const inf::AipCell& cell : aip.cells) {
    const auto [it, added] = row_of.try_emplace(cell.technique, out.rows.size());
    if (added) {
      out.rows.push_back({cell.technique});
      out.rows.back().resize(out.header.size(), "-");
    }
    const auto column = std::find(categories.begin(), categories.end(), cell.category);
    out.rows[it->second][static_cast<std::size_t>(column - categories.begin()) + 1] =
        fmt::format("{:.4f}", cell.mae);
  }
  return out;
}

std::string verdict(const inf::AipResult& aip) {
  return fmt::format(
      "AIP chooses {} on the category {}: MAE {:.4f} (mean rate: {:.4f}); {} rows "
      "trained, {} tested, {:.2f} s in all",
      aip.technique, inf::category_name(aip.category), aip.mae, aip.mean_mae, aip.train_rows,
      aip.test_rows, aip.total_ms / 1000.0);
}

// Mean measured rate of the subject (row) beside the partner (column).
HeatMap heat_map(const inf::Dataset& data) {
  HeatMap map;
  map.title = "Interference rate of the row beside the column";
  map.value_label = "rate";
  const std::size_t jobs = std::min<std::size_t>(data.jobs.size(), kMostHeatJobs);
  std::vector<double> sum(jobs * jobs, 0.0);
  std::vector<double> count(jobs * jobs, 0.0);
  for (const inf::Row& row : data.rows) {
    if (row.corunners.size() != 1 || row.subject >= jobs || row.corunners[0] >= jobs) continue;
    sum[row.subject * jobs + row.corunners[0]] += row.rate;
    count[row.subject * jobs + row.corunners[0]] += 1.0;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    map.values.push_back(count[i] > 0 ? sum[i] / count[i] : inf::kMissingValue);
  }
  for (std::uint32_t i = 0; i < jobs; ++i) map.rows.emplace_back(printable(data.jobs.name(i)));
  map.columns = map.rows;
  return map;
}

Plot predicted_against_measured(const inf::Dataset& data, const inf::Evaluation& e) {
  Plot plot;
  plot.title = "Predicted against measured, held-out rows";
  plot.x.label = "measured rate";
  plot.y.label = "predicted rate";
  plot.diagonal = true;
  Series points{.name = "held out", .mark = Mark::kPoints};
  for (const inf::TestedRow& row : e.rows) {
    points.x.push_back(row.measured);
    points.y.push_back(row.predicted.rate);
    points.tooltip.emplace_back(printable(data.jobs.name(data.rows[row.row].subject)));
  }
  plot.series.push_back(std::move(points));
  return plot;
}

// Share of held-out rows inside their interval, by predicted rate: fifths of the rows.
Plot coverage_plot(const inf::Evaluation& e) {
  std::vector<inf::TestedRow> rows = e.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.predicted.rate < b.predicted.rate;
  });
  Plot plot;
  plot.title = "Coverage of the 90 % interval, by predicted rate";
  plot.x.label = "fifths of the rows, from low to high predicted rate";
  plot.y.label = "share inside";
  plot.y.from_zero = true;
  Series bars{.name = "inside", .mark = Mark::kBars};
  for (std::size_t b = 0; b < kCoverageBins; ++b) {
    const std::size_t first = rows.size() * b / kCoverageBins;
    const std::size_t last = rows.size() * (b + 1) / kCoverageBins;
    double inside = 0;
    for (std::size_t i = first; i < last; ++i) {
      const auto& p = rows[i].predicted;
      if (p.low <= rows[i].measured && rows[i].measured <= p.high) inside += 1.0;
    }
    plot.x.categories.push_back(fmt::format("{}", b + 1));
    bars.x.push_back(static_cast<double>(b));
    bars.y.push_back(last > first ? inside / static_cast<double>(last - first)
                                  : inf::kMissingValue);
  }
  plot.series.push_back(std::move(bars));
  return plot;
}

// Those for which the data set has no parameter that a technique could use.
std::vector<std::string_view> empty_categories(const inf::AipResult& aip) {
  std::vector<std::string_view> out;
  for (const inf::Category category : inf::kCategories) {
    const bool is_there =
        std::ranges::find(aip.cells, category, &inf::AipCell::category) != aip.cells.end();
    if (!is_there) out.push_back(inf::category_name(category));
  }
  return out;
}

// A line, or nothing.
std::string about_empty_categories(const inf::AipResult& aip) {
  const auto empty = empty_categories(aip);
  if (empty.empty()) return {};
  return fmt::format("without a usable parameter, hence without error and influence: {}\n",
                     fmt::join(empty, ", "));
}

}  // namespace

nlohmann::ordered_json aip_json(const inf::AipResult& aip) {
  nlohmann::ordered_json out;
  out["train_rows"] = aip.train_rows;
  out["test_rows"] = aip.test_rows;
  out["mean_mae"] = aip.mean_mae;
  auto& errors = out["errors"] = nlohmann::ordered_json::array();
  for (const inf::AipCell& cell : aip.cells) {
    errors.push_back({{"technique", cell.technique},
                      {"category", inf::category_name(cell.category)},
                      {"mae", cell.mae},
                      {"fit_ms", cell.fit_ms}});
  }
  auto& influence = out["influence_percent"] = nlohmann::ordered_json::object();
  for (const auto& entry : aip.influence) {
    influence[std::string(inf::category_name(entry.category))] = entry.percent;
  }
  out["empty_categories"] = empty_categories(aip);
  out["chosen"] = {{"category", inf::category_name(aip.category)},
                   {"technique", aip.technique},
                   {"mae", aip.mae}};
  out["total_ms"] = aip.total_ms;
  return out;
}

std::string aip_text(const inf::AipResult& aip) {
  const ErrorTable errors = error_table(aip);
  std::vector<Table::Column> columns;
  for (const auto& title : errors.header) {
    columns.push_back({title, columns.empty() ? Align::kLeft : Align::kRight});
  }
  Table table(std::move(columns));
  for (const auto& row : errors.rows) table.add_row(row);
  std::string out = "mean absolute error of the interference rate\n" + table.text();
  out += "influence:";
  for (const auto& entry : aip.influence) {
    out += fmt::format("  {} {:.1f} %", inf::category_name(entry.category), entry.percent);
  }
  return out + "\n" + about_empty_categories(aip) + verdict(aip) + "\n";
}

std::string aip_page(const inf::TrainingSet& set, const inf::AipResult& aip,
                     const inf::Evaluation& evaluation) {
  Page page("Interference prediction");
  page.paragraph(verdict(aip));
  page.heading("Error by technique and category");
  const ErrorTable errors = error_table(aip);
  page.table(errors.header, errors.rows);
  page.heading("Influence of each category");
  std::vector<std::vector<std::string>> influence;
  for (const auto& entry : aip.influence) {
    influence.push_back(
        {std::string(inf::category_name(entry.category)), fmt::format("{:.1f}", entry.percent)});
  }
  page.table(std::vector<std::string>{"category", "per cent"}, influence);
  if (const std::string empty = about_empty_categories(aip); !empty.empty()) page.paragraph(empty);
  page.heading("Measured pairs");
  page.figure(svg(heat_map(*set.data)), "Mean over repetitions; hatched: not measured.");
  page.heading("The honest model");
  page.paragraph(fmt::format(
      "{}: MAE {:.4f} over {} held-out rows, chosen inside the training folds; {:.1f} % inside the "
      "90 % interval.",
      evaluation.selected.name, evaluation.selected.mae, evaluation.tested,
      100.0 * evaluation.selected.coverage.value_or(0.0)));
  page.figure(svg(predicted_against_measured(*set.data, evaluation)));
  page.figure(svg(coverage_plot(evaluation)));
  return page.html();
}

}  // namespace berth::report
