#include "report/trace_page.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "report/page.h"
#include "report/plot.h"
#include "trace/load.h"

namespace berth::report {
namespace {

using trace::Trace;
using trace::TraceJob;

Plot over_time(std::string title, std::string label, const trace::LoadOverTime& load,
               const auto& values) {
  Series series{.mark = Mark::kArea};
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.x.push_back(static_cast<double>(i) * seconds(load.bin_us));
    series.y.push_back(static_cast<double>(values[i]));
  }
  if (!series.x.empty()) {
    series.x.push_back(series.x.back() + seconds(load.bin_us));
    series.y.push_back(0);
  }
  return {.title = std::move(title),
          .x = {.label = "since the first arrival", .unit = AxisUnit::kSeconds, .tight = true},
          .y = {.label = std::move(label)},
          .series = {std::move(series)},
          .width = 940};
}

HeatMap week(const trace::LoadOverTime& load) {
  HeatMap map{.title = "Arrivals per hour, by day and hour",
              .value_label = "jobs an hour",
              .cell_width = 34,
              .cell_height = 22};
  constexpr const char* kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  for (std::size_t day = 0; day < 7; ++day) {
    map.rows.push_back(load.from_monday ? kDays[day] : fmt::format("day {}", day + 1));
    map.values.insert(map.values.end(), load.week.at(day).begin(), load.week.at(day).end());
  }
  for (int hour = 0; hour < 24; ++hour) map.columns.push_back(fmt::format("{}", hour));
  return map;
}

Plot distribution(std::string title, Axis x, std::vector<double> values) {
  return {.title = std::move(title),
          .x = std::move(x),
          .y = {.label = "share of jobs", .from_zero = true},
          .series = {cdf("", std::move(values))}};
}

void add_distributions(Page& page, const Trace& trace) {
  std::vector<double> durations;
  std::vector<double> gaps;
  std::vector<double> gpus;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    if (job.duration_us.known()) durations.push_back(seconds(job.duration_us.value()));
    if (job.gpu_milli.known()) gpus.push_back(static_cast<double>(job.gpu_milli.value()) / 1000);
    if (i > 0) gaps.push_back(seconds(job.arrival_us - trace.jobs[i - 1].arrival_us));
  }
  const auto log_time = [](std::string label) {
    return Axis{.label = std::move(label), .scale = AxisScale::kLog, .unit = AxisUnit::kSeconds};
  };
  page.figure(svg(distribution("Durations", log_time("run time"), durations)));
  page.figure(svg(Plot{.title = "Durations, counted",
                       .x = log_time("run time"),
                       .y = {.label = "jobs"},
                       .series = {histogram("", durations, 60, AxisScale::kLog)}}));
  page.figure(svg(distribution("GPUs", {.label = "GPUs", .scale = AxisScale::kLog}, gpus)));
  page.figure(svg(distribution("Time between arrivals", log_time("gap"), gaps)));
}

void add_rejected(Page& page, const trace::RejectReport& report) {
  if (report.rejected() + report.warned() == 0) return;
  page.heading("Rows rejected or mended");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [reason, n] : report.rejected_by_reason()) {
    rows.push_back({"rejected", reason, with_thousands(static_cast<std::int64_t>(n))});
  }
  for (const auto& [reason, n] : report.warned_by_reason()) {
    rows.push_back({"used", reason, with_thousands(static_cast<std::int64_t>(n))});
  }
  const std::vector<std::string> header = {"rows", "reason", "count"};
  page.table(header, rows);
}

}  // namespace

std::string trace_page(const trace::ReadResult& result) {
  const Trace& trace = result.trace;
  const trace::LoadOverTime load = trace::load_over_time(trace);
  Page page(fmt::format("Trace {}", trace.source));
  page.paragraph(fmt::format(
      "{}, format {}, {} rejected. Arrivals span {}.", counted(trace.jobs.size(), "job"),
      trace.format, counted(result.report.rejected(), "row"),
      human_duration(trace.jobs.empty() ? 0 : trace.jobs.back().arrival_us)));
  page.heading("Load over time");
  const std::string bin = human_duration(load.bin_us);
  page.figure(svg(over_time("Arrivals per " + bin, "jobs", load, load.arrivals)));
  page.figure(svg(over_time("GPUs asked for", "GPUs", load, load.gpus)),
              fmt::format("As if every job started when it arrived; mean of {}.", bin));
  if (!trace.jobs.empty()) {
    page.figure(svg(week(load)), load.from_monday ? "Hours in UTC, or as the trace writes them."
                                                  : "Days and hours since the trace's own zero.");
  }
  page.heading("Distributions");
  add_distributions(page, trace);
  add_rejected(page, result.report);
  return page.html();
}

}  // namespace berth::report
