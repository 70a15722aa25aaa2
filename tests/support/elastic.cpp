#include "support/elastic.h"

#include <gtest/gtest.h>

namespace berth::testing {

Job& ElasticJobs::add(double submit_s, std::uint32_t replicas, std::int64_t iterations) {
  TrainingTruth truth;
  truth.iterations = iterations;
  truth.checkpoint_on_stop = true;
  truth.first_use = static_cast<std::uint32_t>(workload_.training.uses.size());
  workload_.training.uses.resize(truth.first_use + replicas);
  workload_.training.jobs.push_back(truth);
  TaskGraph graph;
  graph.tasks.push_back({.parameters = 1, .compute_us = kUsPerS});
  Job job;
  job.graph = TaskGraphId{workload_.graphs.size()};
  workload_.graphs.push_back(graph);
  job.submit_us = us_from_seconds(submit_s).value();
  job.replicas = replicas;
  job.tasks = replicas;
  job.max_iterations = iterations;
  workload_.truths.push_back({iterations * kUsPerS / replicas});
  workload_.names.push_back("job");
  workload_.jobs.push_back(job);
  return workload_.jobs.back();
}

Run run_elastic(const Cluster& cluster, const Workload& workload,
                const std::function<std::unique_ptr<Policy>()>& make, std::string_view predict) {
  const auto predictors = make_predictors(predict, workload, 7);
  EXPECT_TRUE(predictors);
  Run out;
  for (const std::uint64_t drop : {0U, 3U}) {
    TextEventLog log;
    const auto policy = make();
    auto result = simulate(cluster, workload, *policy, **predictors,
                           {.seed = 7, .check = true, .log = &log, .drop_caches_one_in = drop});
    if (!result) {
      ADD_FAILURE() << result.error().text();
      return {};
    }
    if (drop > 0) {
      EXPECT_EQ(first_difference(out.log, log.text()), "");
    } else {
      out = {*std::move(result), log.text()};
    }
  }
  return out;
}

}  // namespace berth::testing
