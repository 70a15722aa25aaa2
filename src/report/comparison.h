// Runs of several policies on the same jobs and seeds, put side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "engine/metrics.h"
#include "report/run_record.h"

namespace berth {

enum class MetricUnit : std::uint8_t { kSeconds, kRatio, kBytes, kCount };

// A figure of a run that policies are compared by (docs/metrics.md).
struct ComparedMetric {
  std::string_view name;   // as in JSON
  std::string_view title;  // for people
  MetricUnit unit;
  bool lower_is_better;
  std::string_view definition;  // the one of docs/metrics.md
  std::optional<double> (*value)(const Metrics& metrics);
};
[[nodiscard]] std::span<const ComparedMetric> compared_metrics();
// A value of the metric for people: "2 h 13 min", "0.503".
[[nodiscard]] std::string metric_cell(const ComparedMetric& metric, double value);

// How one policy stands to the first in one metric, over the seeds of both.
struct PairedFigure {
  MeanInterval difference;     // policy minus the first; no interval: low = high = mean
  bool has_interval = false;   // 95 %, Student's t with one degree less than seeds
  std::optional<double> gain;  // of the first over the policy (simulation.md), of the means
};

// One table: policies by row, the first being what the others are compared with. All have runs with
// the same seeds.
class Comparison {
 public:
  using RunsOfPolicy = std::vector<const RunRecord*>;  // by seed

  // `name`: "as published"; `sharing`: how it is called in JSON. The runs must outlive it.
  Comparison(std::string name, std::string sharing, std::vector<RunsOfPolicy> runs);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& sharing() const { return sharing_; }
  [[nodiscard]] std::size_t policies() const { return runs_.size(); }
  [[nodiscard]] std::size_t seeds() const { return runs_.empty() ? 0 : runs_.front().size(); }
  [[nodiscard]] const Metrics& run(std::size_t policy, std::size_t seed) const {
    return record(policy, seed).metrics;
  }
  [[nodiscard]] const RunRecord& record(std::size_t policy, std::size_t seed) const {
    return *runs_[policy][seed];
  }
  [[nodiscard]] const std::string& policy_name(std::size_t policy) const {
    return run(policy, 0).policy;
  }
  // Values of a metric over the seeds; empty if a run does not have it.
  [[nodiscard]] std::vector<double> values(std::size_t policy, const ComparedMetric& metric) const;
  // Nothing if a run of either policy does not have the metric.
  [[nodiscard]] std::optional<PairedFigure> paired(std::size_t policy,
                                                   const ComparedMetric& metric) const;
  // More seeds than one, but every policy did the same with each: as-traced jobs, nothing drawn.
  [[nodiscard]] bool seeds_are_copies() const { return copies_; }

  // Means over the seeds of the first policy.
  [[nodiscard]] std::optional<double> rho_whole() const;
  [[nodiscard]] std::optional<double> rho_share() const;

  [[nodiscard]] nlohmann::ordered_json summary_json() const;
  [[nodiscard]] nlohmann::ordered_json paired_json() const;
  // The mean difference of a policy's mean JCT to the first's, in parts of it: "+85.1 % ±16.9"; "-"
  // for the first.
  [[nodiscard]] std::string versus_first(std::size_t policy) const;
  // What was run, in a line, then a row a policy.
  [[nodiscard]] std::string text(bool bold_title) const;
  // Bars of the mean JCT as the table has it, by policy.
  [[nodiscard]] std::string bars() const;
  // "run times: oracle; offered load 0.53, by duty cycle 0.29 (mean of 20 seeds)".
  [[nodiscard]] std::string conditions() const;

 private:
  std::string name_;
  std::string sharing_;
  std::vector<RunsOfPolicy> runs_;
  bool copies_ = false;
};

// {"baseline", "seeds", "runs", "summary", "paired", "tables"}: summary and paired are those of the
// first table.
[[nodiscard]] nlohmann::ordered_json comparison_json(std::span<const Comparison> tables,
                                                     std::span<const Metrics* const> runs);

}  // namespace berth
