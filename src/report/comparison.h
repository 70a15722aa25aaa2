// Runs of several policies on the same jobs and seeds, put side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "engine/metrics.h"

namespace berth {

// A figure of a run that policies are compared by.
struct ComparedMetric {
  std::string_view name;  // as in JSON
  std::optional<double> (*value)(const Metrics& metrics);
};
[[nodiscard]] std::span<const ComparedMetric> compared_metrics();

// All runs, policy by policy, each with the same seeds in the same order. Runs after the last of
// these policies are listed, not compared.
class Comparison {
 public:
  Comparison(std::vector<std::string> policies, std::size_t seeds, std::vector<Metrics> runs);

  [[nodiscard]] const std::vector<Metrics>& runs() const { return runs_; }
  // Values of a metric over the seeds; empty if a run does not have it.
  [[nodiscard]] std::vector<double> values(std::size_t policy, const ComparedMetric& metric) const;
  // Policy minus the first policy, seed by seed; empty if a run does not have the metric.
  [[nodiscard]] std::vector<double> differences(std::size_t policy,
                                                const ComparedMetric& metric) const;

  [[nodiscard]] nlohmann::ordered_json to_json() const;  // runs, summary, paired
  [[nodiscard]] std::string table(bool bold_title) const;

 private:
  [[nodiscard]] const Metrics& run(std::size_t policy, std::size_t seed) const {
    return runs_[policy * seeds_ + seed];
  }

  std::vector<std::string> policies_;
  std::size_t seeds_;
  std::vector<Metrics> runs_;
};

}  // namespace berth
