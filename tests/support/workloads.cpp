#include "support/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace berth::testing {

int cases(int n) {
  const char* const percent = std::getenv("BERTH_CASES_PERCENT");
  return percent == nullptr ? n : std::max(1, n * std::atoi(percent) / 100);
}

Workload workload_of(const std::vector<SimpleJob>& jobs) {
  Workload out;
  for (const SimpleJob& simple : jobs) {
    Job job;
    job.submit_us = us_from_seconds(simple.submit_s).value();
    job.tasks = simple.gpus == 0 ? 1 : simple.gpus;
    job.gpu_milli_per_task = simple.gpus == 0 ? 0 : simple.gpu_milli;
    job.gpu_types = simple.types;
    out.jobs.push_back(job);
    out.truths.push_back({us_from_seconds(simple.run_s).value()});
    out.names.push_back("job");
  }
  return out;
}

Cluster cluster_of(std::string_view size) {
  auto cluster = named_cluster(size);
  EXPECT_TRUE(cluster && *cluster);
  return **std::move(cluster);
}

Cluster random_cluster(Rng& rng, bool types) {
  Cluster cluster;
  const auto type_count = types ? 1 + rng.below(3) : 1;
  for (std::uint64_t t = 0; t < type_count; ++t) {
    cluster.gpu_types.push_back({.name = types ? std::string(1, static_cast<char>('A' + t)) : ""});
  }
  const auto servers = 1 + rng.below(6);
  for (std::uint64_t s = 0; s < servers; ++s) {
    cluster.add_server("s" + std::to_string(s),
                       GpuTypeId{static_cast<std::uint32_t>(rng.below(type_count))},
                       static_cast<std::uint32_t>(1 + rng.below(8)));
  }
  return cluster;
}

Workload random_workload(Rng& rng, const Cluster& cluster, const RandomJobs& shape) {
  std::vector<SimpleJob> jobs;
  const auto count = 1 + rng.below(shape.max_jobs);
  const bool crowded = rng.chance(0.5);
  const auto all = static_cast<std::int64_t>(cluster.gpus());
  double now_s = 0;
  for (std::uint64_t j = 0; j < count; ++j) {
    SimpleJob job;
    now_s += static_cast<double>(rng.below(crowded ? 3 : 20));
    job.submit_s = now_s;
    job.run_s = static_cast<double>(rng.below(rng.chance(0.2) ? 200 : 20));
    job.gpus = static_cast<std::uint32_t>(rng.chance(0.6)
                                              ? rng.uniform_int(1, std::min<std::int64_t>(all, 2))
                                              : rng.uniform_int(1, all));
    if (rng.chance(0.05)) job.gpus = 0;
    if (shape.too_large && rng.chance(0.03)) job.gpus = static_cast<std::uint32_t>(all + 1);
    if (shape.shares && rng.chance(0.5)) {
      job.gpus = 1;
      job.gpu_milli = static_cast<std::uint32_t>(rng.uniform_int(1, 999));
    }
    if (shape.types && rng.chance(0.5)) job.types = rng.below(8);
    jobs.push_back(job);
  }
  return workload_of(jobs);
}

std::string first_difference(const std::string& fast, const std::string& slow) {
  if (fast == slow) return "";
  const std::size_t common = std::min(fast.size(), slow.size());
  const auto [a, b] =
      std::mismatch(fast.begin(), fast.begin() + static_cast<std::ptrdiff_t>(common), slow.begin());
  const auto at = static_cast<std::size_t>(a - fast.begin());
  const std::size_t line = fast.rfind('\n', at == 0 ? 0 : at - 1) + 1;
  return "fast: " + fast.substr(line, 160) + "\nslow: " + slow.substr(line, 160);
}

std::vector<PolicyOption> quick_options(const PolicyInfo& info) {
  // Each policy takes those of them that it knows.
  const PolicyOption kQuick[] = {{"round_s", "0.7"},      {"least_run_s", "0.4"},
                                 {"patience_h", "0.001"}, {"interval_s", "0.9"},
                                 {"quantum_s", "0.4"},    {"trial_s", "0.5"}};
  std::vector<PolicyOption> options;
  for (const PolicyOption& option : kQuick) {
    options.push_back(option);
    if (!info.make(options)) options.pop_back();
  }
  return options;
}

std::unique_ptr<Policy> quick_policy(const PolicyInfo& info) {
  auto policy = info.make(quick_options(info));
  EXPECT_TRUE(policy) << policy.error().text();
  return *std::move(policy);
}

Run run_policy(const Cluster& cluster, const Workload& workload, std::string_view policy,
               const RunSetup& setup) {
  TextEventLog log;
  const auto info = find_policy(policy);
  EXPECT_TRUE(info);
  auto made = (*info)->make(setup.options);
  EXPECT_TRUE(made) << made.error().text();
  auto predictors = make_predictors(setup.predict, workload, 7);
  EXPECT_TRUE(predictors);
  const SimulationOptions options{.seed = 7,
                                  .check = true,
                                  .log = &log,
                                  .progress_rule = rule_for(**info, ProgressRule::kWhole),
                                  .faults = setup.faults,
                                  .drop_caches_one_in = setup.drop_caches_one_in};
  auto result = simulate(cluster, workload, **made, **predictors, options);
  if (!result) {
    ADD_FAILURE() << policy << ": " << result.error().text();
    return {};
  }
  return {*std::move(result), log.text()};
}

}  // namespace berth::testing
