#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "report/axis.h"
#include "report/bars.h"
#include "report/json.h"
#include "report/table.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> number(std::optional<std::uint64_t> count) {
  return count ? std::optional<double>(static_cast<double>(*count)) : std::nullopt;
}

constexpr std::array kMetrics = {
    ComparedMetric{"mean_jct_s", "mean JCT", MetricUnit::kSeconds, true,
                   "job completion time, end − submission: mean over jobs that count",
                   [](const Metrics& m) { return m.mean_jct_s; }},
    ComparedMetric{"p50_jct_s", "median JCT", MetricUnit::kSeconds, true,
                   "quantiles of the same, by linear interpolation between order statistics",
                   [](const Metrics& m) { return m.p50_jct_s; }},
    ComparedMetric{"p95_jct_s", "p95 JCT", MetricUnit::kSeconds, true,
                   "quantiles of the same, by linear interpolation between order statistics",
                   [](const Metrics& m) { return m.p95_jct_s; }},
    ComparedMetric{"p99_jct_s", "p99 JCT", MetricUnit::kSeconds, true,
                   "quantiles of the same, by linear interpolation between order statistics",
                   [](const Metrics& m) { return m.p99_jct_s; }},
    ComparedMetric{"makespan_s", "makespan", MetricUnit::kSeconds, true,
                   "from the first submission to the last end",
                   [](const Metrics& m) { return m.makespan_s; }},
    ComparedMetric{
        "mean_wait_s", "mean wait", MetricUnit::kSeconds, true,
        "completion time less the time in which the job ran, so that waiting after a preemption "
        "counts: mean over jobs that count",
        [](const Metrics& m) { return m.mean_wait_s; }},
    ComparedMetric{"deadline_ratio", "deadlines met", MetricUnit::kRatio, false,
                   "jobs that finished or were stopped by their deadline, over jobs that have one "
                   "and were run",
                   [](const Metrics& m) { return m.deadline_ratio; }},
    ComparedMetric{"urgent_deadline_ratio", "urgent deadlines met", MetricUnit::kRatio, false,
                   "the same of jobs of an urgency above 8",
                   [](const Metrics& m) { return m.urgent_deadline_ratio; }},
    ComparedMetric{
        "mean_accuracy", "mean accuracy", MetricUnit::kRatio, false,
        "accuracy reached by min(deadline, end), by the end for jobs without a deadline: mean over "
        "jobs with a learning curve that were run",
        [](const Metrics& m) { return m.mean_accuracy; }},
    ComparedMetric{
        "accuracy_ratio", "accuracy reached", MetricUnit::kRatio, false,
        "jobs whose accuracy by min(deadline, end) is at least what they require, over jobs that "
        "require one and were run",
        [](const Metrics& m) { return m.accuracy_ratio; }},
    ComparedMetric{
        "inter_server_bytes", "bytes between servers", MetricUnit::kBytes, true,
        "traffic between servers: of iterations, those run again included, and of state moved; "
        "each byte once, not at both ends",
        [](const Metrics& m) { return m.inter_server_bytes; }},
    ComparedMetric{"gpu_utilisation", "GPU utilisation", MetricUnit::kRatio, false,
                   "GPU-seconds held, by copies too, over GPUs × `makespan_s`",
                   [](const Metrics& m) { return m.gpu_utilisation; }},
    ComparedMetric{
        "overloads", "overloads", MetricUnit::kCount, true,
        "entries of a server into overload: any of its resources, or one of its devices, is "
        "really used above its capacity, and none was before",
        [](const Metrics& m) { return number(m.overloads); }},
    ComparedMetric{"migrations", "migrations", MetricUnit::kCount, true,
                   "moves of a running task to another place, each task once a move",
                   [](const Metrics& m) { return number(m.migrations); }},
    ComparedMetric{"preemptions", "preemptions", MetricUnit::kCount, true,
                   "times that a running job was made to wait again",
                   [](const Metrics& m) { return number(m.preemptions); }},
};
constexpr const ComparedMetric& kMeanJct = kMetrics.front();

const ComparedMetric& metric_of(std::string_view name) {
  return *std::ranges::find(kMetrics, name, &ComparedMetric::name);
}

double mean_of(std::span<const double> values) {
  return mean_interval(values).mean;
}

// (rival - ours)/rival where lower is better, (ours - rival)/rival where higher is.
std::optional<double> gain_of(double ours, double rival, bool lower_is_better) {
  if (!(rival > 0)) return std::nullopt;
  return (lower_is_better ? rival - ours : ours - rival) / rival;
}

std::optional<double> mean_over(const Comparison& table, auto value) {
  if (table.policies() == 0 || table.seeds() == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t seed = 0; seed < table.seeds(); ++seed) {
    const std::optional<double> one = value(table.run(0, seed));
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum / static_cast<double>(table.seeds());
}

}  // namespace

std::span<const ComparedMetric> compared_metrics() {
  return kMetrics;
}

std::string metric_cell(const ComparedMetric& metric, double value) {
  switch (metric.unit) {
    case MetricUnit::kSeconds:
      return human_duration(us_from_seconds(value).value_or(0));
    case MetricUnit::kRatio:
      return fmt::format("{:.3f}", value);
    case MetricUnit::kBytes:
      return report::short_number(value) + "B";
    case MetricUnit::kCount:
      return std::abs(value) < 100 ? fmt::format("{:.4g}", value)
                                   : with_thousands(std::llround(std::clamp(value, -1e15, 1e15)));
  }
  return {};
}

Comparison::Comparison(std::string name, std::string sharing, std::vector<RunsOfPolicy> runs)
    : name_(std::move(name)), sharing_(std::move(sharing)), runs_(std::move(runs)) {
  copies_ = seeds() > 1 && std::ranges::all_of(runs_, [](const RunsOfPolicy& of_policy) {
              return std::ranges::all_of(of_policy, [&](const RunRecord* run) {
                return run->metrics.event_hash == of_policy.front()->metrics.event_hash;
              });
            });
}

std::vector<double> Comparison::values(std::size_t policy, const ComparedMetric& metric) const {
  std::vector<double> out;
  for (const RunRecord* const run : runs_[policy]) {
    const auto value = metric.value(run->metrics);
    if (!value) return {};
    out.push_back(*value);
  }
  return out;
}

std::optional<PairedFigure> Comparison::paired(std::size_t policy,
                                               const ComparedMetric& metric) const {
  std::vector<double> differences = values(policy, metric);
  const std::vector<double> first = values(0, metric);
  if (differences.empty() || first.size() != differences.size()) return std::nullopt;
  PairedFigure figure;
  figure.gain = gain_of(mean_of(first), mean_of(differences), metric.lower_is_better);
  for (std::size_t seed = 0; seed < first.size(); ++seed) differences[seed] -= first[seed];
  figure.difference = mean_interval(differences);
  figure.has_interval = seeds() > 1 && !copies_;
  return figure;
}

std::optional<double> Comparison::rho_whole() const {
  return mean_over(*this, [](const Metrics& m) { return m.rho_whole; });
}

std::optional<double> Comparison::rho_share() const {
  return mean_over(*this, [](const Metrics& m) { return m.rho_share; });
}

Json Comparison::summary_json() const {
  Json summary = Json::object();
  for (std::size_t policy = 0; policy < policies(); ++policy) {
    Json& figures = summary[policy_name(policy)] = Json::object();
    for (const ComparedMetric& metric : kMetrics) {
      std::vector<double> samples = values(policy, metric);
      if (samples.empty()) continue;
      figures[std::string(metric.name)] = {{"median", quantile(samples, 0.5)},
                                           {"p01", quantile(samples, 0.01)},
                                           {"p99", quantile(samples, 0.99)}};
    }
  }
  return summary;
}

Json Comparison::paired_json() const {
  Json paired = Json::object();
  for (std::size_t policy = 1; policy < policies(); ++policy) {
    Json& against = paired[policy_name(policy)] = Json::object();
    for (const ComparedMetric& metric : kMetrics) {
      const auto figure = this->paired(policy, metric);
      if (!figure) continue;
      const auto end = [&](double value) {
        return figure->has_interval ? Json(value) : Json(nullptr);
      };
      against[std::string(metric.name)] = {
          {"mean_difference", figure->difference.mean},
          {"low95", end(figure->difference.low)},
          {"high95", end(figure->difference.high)},
          {"gain", figure->gain ? Json(*figure->gain) : Json(nullptr)}};
    }
  }
  return paired;
}

std::string Comparison::conditions() const {
  if (policies() == 0 || seeds() == 0) return {};
  std::string out = fmt::format("run times: {}", run(0, 0).predict);
  const auto whole = rho_whole();
  const auto share = rho_share();
  if (whole) out += fmt::format("; offered load {:.3f}", *whole);
  if (share) out += fmt::format(", by duty cycle {:.3f}", *share);
  out += fmt::format("; {}", counted(seeds(), "seed"));
  if (copies_) out += ", all the same: nothing is drawn";
  return out;
}

std::string Comparison::versus_first(std::size_t policy) const {
  const auto gap = paired(policy, kMeanJct);
  if (policy == 0 || !gap) return "-";
  const double first_s = mean_of(values(0, kMeanJct));
  if (!(first_s > 0)) return "-";
  const MeanInterval& interval = gap->difference;
  std::string out = fmt::format("{:+.1f} %", 100.0 * interval.mean / first_s);
  if (gap->has_interval) {
    out += fmt::format(" ±{:.1f}", 100.0 * (interval.high - interval.mean) / first_s);
  }
  return out;
}

std::string Comparison::text(bool bold_title) const {
  const auto median = [&](std::size_t policy, std::string_view name) -> std::string {
    const ComparedMetric& metric = metric_of(name);
    std::vector<double> samples = values(policy, metric);
    return samples.empty() ? "-" : metric_cell(metric, quantile(samples, 0.5));
  };
  const bool mixed = sharing_ == "published";  // else the name of the table says it
  std::vector<Table::Column> columns = {{"policy", Align::kLeft}};
  if (mixed) columns.push_back({"GPUs", Align::kLeft});
  for (const char* const title : {"mean JCT", "vs first", "median JCT", "p99 JCT", "mean wait",
                                  "makespan", "GPU util", "preempt", "CPU"}) {
    columns.push_back({title});
  }
  Table table(std::move(columns));
  for (std::size_t policy = 0; policy < policies(); ++policy) {
    double cpu_s = 0;
    for (const RunRecord* const one : runs_[policy]) cpu_s += one->metrics.cpu_s;
    std::vector<std::string> cells = {policy_name(policy)};
    if (mixed) cells.push_back(run(policy, 0).sharing);
    cells.insert(cells.end(), {median(policy, "mean_jct_s"), versus_first(policy)});
    for (const std::string_view name : {"p50_jct_s", "p99_jct_s", "mean_wait_s", "makespan_s",
                                        "gpu_utilisation", "preemptions"}) {
      cells.push_back(median(policy, name));
    }
    cells.push_back(fmt::format("{:.2f} s", cpu_s / static_cast<double>(seeds())));
    table.add_row(std::move(cells));
  }
  return fmt::format("{}: {}\n{}", name_, conditions(), table.text(bold_title));
}

std::string Comparison::bars() const {
  constexpr std::size_t kWidth = 60;
  const ComparedMetric& metric = metric_of("mean_jct_s");
  std::vector<Bar> bars;
  for (std::size_t policy = 0; policy < policies(); ++policy) {
    std::vector<double> samples = values(policy, metric);
    if (samples.empty()) {
      bars.push_back({policy_name(policy), 0, "-"});
      continue;
    }
    const double median = quantile(samples, 0.5);
    bars.push_back({policy_name(policy), median, metric_cell(metric, median)});
  }
  return fmt::format("{}\n{}", metric.title, bars_text(bars, kWidth));
}

Json comparison_json(std::span<const Comparison> tables, std::span<const Metrics* const> runs) {
  Json list = Json::array();
  for (const Metrics* const metrics : runs) list.push_back(to_json(*metrics));
  Json blocks = Json::array();
  for (const Comparison& table : tables) {
    blocks.push_back({{"name", table.name()},
                      {"sharing", table.sharing()},
                      {"summary", table.summary_json()},
                      {"paired", table.paired_json()}});
  }
  const bool any = !tables.empty() && tables.front().policies() > 0;
  return {{"baseline", any ? Json(tables.front().policy_name(0)) : Json(nullptr)},
          {"seeds", any ? tables.front().seeds() : 0},
          {"runs", std::move(list)},
          {"summary", any ? blocks.front()["summary"] : Json::object()},
          {"paired", any ? blocks.front()["paired"] : Json::object()},
          {"tables", std::move(blocks)}};
}

}  // namespace berth
