#include "report/comparison.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "report/json.h"
#include "report/table.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kMetrics = {
    ComparedMetric{"mean_jct_s", [](const Metrics& m) { return m.mean_jct_s; }},
    ComparedMetric{"p50_jct_s", [](const Metrics& m) { return m.p50_jct_s; }},
    ComparedMetric{"p95_jct_s", [](const Metrics& m) { return m.p95_jct_s; }},
    ComparedMetric{"p99_jct_s", [](const Metrics& m) { return m.p99_jct_s; }},
    ComparedMetric{"makespan_s", [](const Metrics& m) { return m.makespan_s; }},
    ComparedMetric{"mean_wait_s", [](const Metrics& m) { return m.mean_wait_s; }},
    ComparedMetric{"deadline_ratio", [](const Metrics& m) { return m.deadline_ratio; }},
    ComparedMetric{"mean_accuracy", [](const Metrics& m) { return m.mean_accuracy; }},
    ComparedMetric{"accuracy_ratio", [](const Metrics& m) { return m.accuracy_ratio; }},
    ComparedMetric{"inter_server_bytes", [](const Metrics& m) { return m.inter_server_bytes; }},
    ComparedMetric{"gpu_utilisation", [](const Metrics& m) { return m.gpu_utilisation; }},
    ComparedMetric{
        "preemptions",
        [](const Metrics& m) { return std::optional<double>(static_cast<double>(m.preemptions)); }},
};

std::string time_cell(std::vector<double> values_s) {
  if (values_s.empty()) return "-";
  return human_duration(us_from_seconds(quantile(values_s, 0.5)).value_or(0));
}

std::string number_cell(std::vector<double> values, int decimals) {
  if (values.empty()) return "-";
  return fmt::format("{:.{}f}", quantile(values, 0.5), decimals);
}

}  // namespace

std::span<const ComparedMetric> compared_metrics() {
  return kMetrics;
}

Comparison::Comparison(std::vector<std::string> policies, std::size_t seeds,
                       std::vector<Metrics> runs)
    : policies_(std::move(policies)), seeds_(seeds), runs_(std::move(runs)) {}

std::vector<double> Comparison::values(std::size_t policy, const ComparedMetric& metric) const {
  std::vector<double> out;
  for (std::size_t seed = 0; seed < seeds_; ++seed) {
    const auto value = metric.value(run(policy, seed));
    if (!value) return {};
    out.push_back(*value);
  }
  return out;
}

std::vector<double> Comparison::differences(std::size_t policy,
                                            const ComparedMetric& metric) const {
  std::vector<double> out = values(policy, metric);
  const std::vector<double> first = values(0, metric);
  if (first.size() != out.size()) return {};
  for (std::size_t seed = 0; seed < out.size(); ++seed) out[seed] -= first[seed];
  return out;
}

Json Comparison::to_json() const {
  Json runs = Json::array();
  for (const Metrics& metrics : runs_) runs.push_back(berth::to_json(metrics));
  Json summary = Json::object();
  Json paired = Json::object();
  for (std::size_t policy = 0; policy < policies_.size(); ++policy) {
    Json& figures = summary[policies_[policy]] = Json::object();
    for (const ComparedMetric& metric : kMetrics) {
      std::vector<double> samples = values(policy, metric);
      if (samples.empty()) continue;
      figures[std::string(metric.name)] = {{"median", quantile(samples, 0.5)},
                                           {"p01", quantile(samples, 0.01)},
                                           {"p99", quantile(samples, 0.99)}};
    }
    if (policy == 0) continue;
    Json& against = paired[policies_[policy]] = Json::object();
    for (const ComparedMetric& metric : kMetrics) {
      const std::vector<double> samples = differences(policy, metric);
      if (samples.empty()) continue;
      const MeanInterval interval = mean_interval(samples);
      against[std::string(metric.name)] = {
          {"mean_difference", interval.mean}, {"low95", interval.low}, {"high95", interval.high}};
    }
  }
  return {{"baseline", policies_.empty() ? Json(nullptr) : Json(policies_.front())},
          {"seeds", seeds_},
          {"runs", std::move(runs)},
          {"summary", std::move(summary)},
          {"paired", std::move(paired)}};
}

std::string Comparison::table(bool bold_title) const {
  const auto metric = [&](std::string_view name, std::size_t policy) {
    for (const ComparedMetric& candidate : kMetrics) {
      if (candidate.name == name) return values(policy, candidate);
    }
    return std::vector<double>{};
  };
  Table table({{"policy", Align::kLeft},
               {"mean JCT"},
               {"vs first"},
               {"median JCT"},
               {"p99 JCT"},
               {"mean wait"},
               {"makespan"},
               {"GPU util"},
               {"preempt"},
               {"CPU"}});
  for (std::size_t policy = 0; policy < policies_.size(); ++policy) {
    const std::vector<double> jct_s = metric("mean_jct_s", policy);
    std::string versus = "-";
    if (policy > 0 && !jct_s.empty()) {
      const MeanInterval gap = mean_interval(differences(policy, kMetrics.front()));
      const double first_s = mean_interval(metric("mean_jct_s", 0)).mean;
      if (first_s > 0) {
        versus = fmt::format("{:+.1f} %", 100.0 * gap.mean / first_s);
        if (seeds_ > 1) versus += fmt::format(" ±{:.1f}", 100.0 * (gap.high - gap.mean) / first_s);
      }
    }
    double cpu_s = 0;
    for (std::size_t seed = 0; seed < seeds_; ++seed) cpu_s += run(policy, seed).cpu_s;
    table.add_row(
        {policies_[policy], time_cell(jct_s), versus, time_cell(metric("p50_jct_s", policy)),
         time_cell(metric("p99_jct_s", policy)), time_cell(metric("mean_wait_s", policy)),
         time_cell(metric("makespan_s", policy)), number_cell(metric("gpu_utilisation", policy), 3),
         number_cell(metric("preemptions", policy), 0),
         fmt::format("{:.2f} s", cpu_s / static_cast<double>(seeds_))});
  }
  return table.text(bold_title);
}

}  // namespace berth
