#include "report/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/text.h"
#include "report/page.h"
#include "report/plot.h"

namespace berth::report {
namespace {

constexpr int kPlotWidth = 470;
constexpr std::size_t kUtilisationBins =
    4;  // it jumps: lines of many policies would hide each other

// Room for the legend as well, which has two columns for names of usual length.
int plot_height(const Comparison& table) {
  return 260 + 18 * static_cast<int>((table.policies() + 1) / 2);
}

std::string heading_of(const Comparison& table) {
  if (table.sharing() == "published")
    return "As published: each policy holds GPUs as its paper does";
  if (table.sharing() == "shared") return "All sharing: tasks share GPUs under every policy";
  return "Exclusive: a GPU is a slot of one task under every policy";
}

const ComparedMetric& metric_named(std::string_view name) {
  return *std::ranges::find(compared_metrics(), name, &ComparedMetric::name);
}

std::string signed_cell(const ComparedMetric& metric, double value) {
  return (value > 0 ? "+" : "") + metric_cell(metric, value);
}

// Whether any table has the metric.
bool is_known(const ComparedMetric& metric, std::span<const Comparison> tables) {
  return std::ranges::any_of(tables, [&](const Comparison& table) {
    for (std::size_t p = 0; p < table.policies(); ++p) {
      if (!table.values(p, metric).empty()) return true;
    }
    return false;
  });
}

// Whether any policy differs from the first in the metric.
bool differs(const ComparedMetric& metric, std::span<const Comparison> tables) {
  return std::ranges::any_of(tables, [&](const Comparison& table) {
    for (std::size_t p = 1; p < table.policies(); ++p) {
      const auto figure = table.paired(p, metric);
      if (!figure) continue;
      const MeanInterval& gap = figure->difference;
      if (gap.mean != 0 || gap.low != 0 || gap.high != 0) return true;
    }
    return false;
  });
}

// Medians over the seeds.
void add_headline(Page& page, const Comparison& table) {
  constexpr std::string_view kShown[] = {"mean_jct_s",     "p50_jct_s",     "p99_jct_s",
                                         "mean_wait_s",    "makespan_s",    "gpu_utilisation",
                                         "deadline_ratio", "mean_accuracy", "preemptions"};
  const ComparedMetric& jct = metric_named("mean_jct_s");
  std::vector<std::string> header = {"policy", "GPUs"};
  for (const std::string_view name : kShown) {
    const ComparedMetric& metric = metric_named(name);
    if (!is_known(metric, {&table, 1})) continue;
    header.emplace_back(metric.title);
    if (metric.name == jct.name) header.emplace_back("vs first");
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t p = 0; p < table.policies(); ++p) {
    std::vector<std::string>& row = rows.emplace_back();
    row = {table.policy_name(p), table.run(p, 0).sharing};
    for (const std::string_view name : kShown) {
      const ComparedMetric& metric = metric_named(name);
      if (!is_known(metric, {&table, 1})) continue;
      std::vector<double> values = table.values(p, metric);
      row.push_back(values.empty() ? "-" : metric_cell(metric, quantile(values, 0.5)));
      if (metric.name == jct.name) row.push_back(table.versus_first(p));
    }
  }
  page.table(header, rows);
}

void add_paired_table(Page& page, const Comparison& table) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedMetric& metric : compared_metrics()) {
    for (std::size_t p = 1; p < table.policies(); ++p) {
      const auto figure = table.paired(p, metric);
      if (!figure) continue;
      const auto end = [&](double value) {
        return figure->has_interval ? signed_cell(metric, value) : std::string("-");
      };
      rows.push_back({std::string(metric.title), table.policy_name(p),
                      signed_cell(metric, figure->difference.mean), end(figure->difference.low),
                      end(figure->difference.high),
                      figure->gain ? fmt::format("{:.1f} %", 100 * *figure->gain) : "-"});
    }
  }
  if (rows.empty()) return;
  const std::vector<std::string> header = {
      "metric",   "policy",    "difference",
      "low 95 %", "high 95 %", fmt::format("gain of {}", table.policy_name(0))};
  page.raw(fmt::format("<details><summary>The figures: {}</summary>\n", escape_html(table.name())));
  page.table(header, rows);
  page.raw("</details>\n");
}

Axis metric_axis(const ComparedMetric& metric, std::string label) {
  return {.label = std::move(label),
          .unit = metric.unit == MetricUnit::kSeconds ? AxisUnit::kSeconds : AxisUnit::kNumber};
}

// The policies that are compared with the first, in the order of the tables.
std::vector<std::string> rivals_of(std::span<const Comparison> tables) {
  std::vector<std::string> out;
  for (const Comparison& table : tables) {
    for (std::size_t p = 1; p < table.policies(); ++p) {
      const std::string& name = table.policy_name(p);
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

// A row a rival, the first on top; of each table a point with its interval.
Plot difference_plot(const ComparedMetric& metric, std::span<const Comparison> tables) {
  std::vector<std::string> rivals = rivals_of(tables);
  std::ranges::reverse(rivals);
  Plot plot{
      .title = fmt::format("{} ({} is better)", metric.title,
                           metric.lower_is_better ? "lower" : "higher"),
      .description = fmt::format("Difference to {}; the figures are in the table below",
                                 tables.front().policy_name(0)),
      .x = metric_axis(metric, fmt::format("difference to {}", tables.front().policy_name(0))),
      .y = {.categories = rivals},
      .series = {},
      .zero_x = true,
      .width = kPlotWidth,
      .height = 100 + 26 * static_cast<int>(rivals.size())};
  const double apart = tables.size() > 1 ? 0.3 : 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const Comparison& table = tables[t];
    Series series{.name = tables.size() > 1 ? table.name() : "", .mark = Mark::kPoints};
    for (std::size_t p = 1; p < table.policies(); ++p) {
      const auto figure = table.paired(p, metric);
      if (!figure) continue;
      const auto row = std::ranges::find(rivals, table.policy_name(p)) - rivals.begin();
      const MeanInterval& gap = figure->difference;
      series.x.push_back(gap.mean);
      series.y.push_back(static_cast<double>(row) + apart / 2 - apart * static_cast<double>(t));
      std::string tooltip = fmt::format("{}, {}: {}", table.policy_name(p), table.name(),
                                        signed_cell(metric, gap.mean));
      if (figure->has_interval) {
        series.x_low.push_back(gap.low);
        series.x_high.push_back(gap.high);
        tooltip += fmt::format(" (95 %: {} to {})", signed_cell(metric, gap.low),
                               signed_cell(metric, gap.high));
      }
      series.tooltip.push_back(std::move(tooltip));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Completion times of the jobs of all seeds together, each seed counting alike.
Plot jct_plot(const Comparison& table) {
  Plot plot{.title = "Completion times, " + table.name(),
            .description = "Share of jobs that took at most so long; medians are in the table",
            .x = {.label = "completion time (all seeds)",
                  .scale = AxisScale::kLog,
                  .unit = AxisUnit::kSeconds},
            .y = {.label = "share of jobs", .from_zero = true},
            .series = {},
            .width = kPlotWidth,
            .height = plot_height(table)};
  for (std::size_t p = 0; p < table.policies(); ++p) {
    std::vector<double> jct_s;
    for (std::size_t s = 0; s < table.seeds(); ++s) {
      const std::vector<TimeUs>& of_run = table.record(p, s).jct_us;
      for (std::size_t i = 1; i < of_run.size(); ++i) jct_s.push_back(seconds(of_run[i]));
    }
    plot.series.push_back(cdf(table.policy_name(p), std::move(jct_s), kJctParts));
  }
  return plot;
}

// A quantity of the first seed's runs over their time, in steps: means of `together` bins each.
Plot over_time(const Comparison& table, std::string title, std::string label, double divisor,
               std::vector<std::int64_t> RunSeries::*values, std::size_t together) {
  Plot plot{
      .title = std::move(title),
      .description = fmt::format("Over the time of the run with seed {}", table.run(0, 0).seed),
      .x = {.label = fmt::format("since the first arrival (seed {})", table.run(0, 0).seed),
            .unit = AxisUnit::kSeconds,
            .tight = true},
      .y = {.label = std::move(label), .from_zero = true},
      .series = {},
      .width = kPlotWidth,
      .height = plot_height(table)};
  for (std::size_t p = 0; p < table.policies(); ++p) {
    const RunSeries& run = table.record(p, 0).series;
    Series series{.name = table.policy_name(p), .mark = Mark::kStep};
    const std::span<const std::int64_t> bins = run.*values;
    for (std::size_t i = 0; i < bins.size(); i += together) {
      const auto group = bins.subspan(i, std::min(together, bins.size() - i));
      const auto sum =
          static_cast<double>(std::accumulate(group.begin(), group.end(), std::int64_t{0}));
      series.x.push_back(static_cast<double>(i) * seconds(run.bin_us));
      series.y.push_back(sum / static_cast<double>(group.size()) / divisor);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

void add_grid(Page& page, std::span<const Plot> plots) {
  page.raw("<div class=\"grid\">\n");
  for (const Plot& plot : plots) page.figure(svg(plot));
  page.raw("</div>\n");
}

void add_differences(Page& page, std::span<const Comparison> tables) {
  if (rivals_of(tables).empty()) return;
  const Comparison& first = tables.front();
  page.heading(fmt::format("Differences to {}", first.policy_name(0)));
  const bool any = std::ranges::any_of(tables, [](const Comparison& table) {
    return table.seeds() > 1 && !table.seeds_are_copies();
  });
  page.paragraph(
      fmt::format("Each policy less {} on the same jobs and seed, mean over {}{}. Right of the "
                  "line is more. What is the same for all is not drawn.",
                  first.policy_name(0), counted(first.seeds(), "seed"),
                  any                 ? "; whiskers are the 95 % interval (paired, Student's t)"
                  : first.seeds() > 1 ? "; all seeds are the same run, so there is no interval"
                                      : "; one seed gives no interval"));
  std::vector<Plot> plots;
  for (const ComparedMetric& metric : compared_metrics()) {
    if (differs(metric, tables)) plots.push_back(difference_plot(metric, tables));
  }
  add_grid(page, plots);
  for (const Comparison& table : tables) add_paired_table(page, table);
}

void add_plots(Page& page, std::span<const Comparison> tables, double gpus) {
  page.heading("Completion times");
  std::vector<Plot> plots;
  for (const Comparison& table : tables) plots.push_back(jct_plot(table));
  add_grid(page, plots);
  page.heading("Over time");
  plots.clear();
  for (const Comparison& table : tables) {
    plots.push_back(over_time(table, "Jobs that wait, " + table.name(), "jobs", 1e3,
                              &RunSeries::waiting_milli, 1));
  }
  for (const Comparison& table : tables) {
    plots.push_back(over_time(table, "GPU utilisation, " + table.name(), "share of GPUs held",
                              1e3 * std::max(gpus, 1.0), &RunSeries::held_milli, kUtilisationBins));
  }
  add_grid(page, plots);
}

void add_definitions(Page& page, std::span<const Comparison> tables) {
  page.heading("What the figures mean");
  page.raw("<dl>\n");
  for (const ComparedMetric& metric : compared_metrics()) {
    if (!is_known(metric, tables)) continue;
    page.raw(fmt::format("<dt>{} <code>{}</code>, {} is better</dt><dd>{}</dd>\n",
                         escape_html(metric.title), escape_html(metric.name),
                         metric.lower_is_better ? "lower" : "higher",
                         escape_html(metric.definition)));
  }
  page.raw(
      "<dt>gain</dt><dd>of the first policy over another, from their means: (other − first) / "
      "other "
      "where lower is better, (first − other) / other where higher is</dd>\n</dl>\n");
  page.paragraph(
      "Jobs that count finished, or were stopped by load control or their stop option; jobs that "
      "can "
      "never fit are left out. Cells of the tables are medians over the seeds.");
}

}  // namespace

std::string compare_page(const ComparePage& input) {
  std::vector<Comparison> tables;
  std::ranges::copy_if(input.tables, std::back_inserter(tables),
                       [](const Comparison& table) { return table.policies() > 0; });
  Page page(input.title);
  page.paragraph(input.summary);
  if (tables.empty()) return page.html();
  for (const Comparison& table : tables) {
    page.heading(heading_of(table));
    page.paragraph(table.conditions());
    add_headline(page, table);
  }
  add_differences(page, tables);
  add_plots(page, tables, input.gpus);
  page.heading("What was run");
  page.raw("<dl>\n");
  for (const auto& [name, value] : input.facts) {
    page.raw(fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", escape_html(name),
                         escape_html(value)));
  }
  page.raw("</dl>\n");
  add_definitions(page, tables);
  return page.html();
}

}  // namespace berth::report
