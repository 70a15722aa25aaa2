// Elastic policies on random training jobs: their caches may be dropped at any moment, and what
// they do is the same where nothing is predicted.
#include "support/elastic.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(ElasticProperty, CachesMayBeDroppedAtAnyMoment) {
  for (int i = 0; i < testing::cases(100); ++i) {
    Rng rng(61'000 + static_cast<std::uint64_t>(i));
    const Cluster cluster = testing::random_training_cluster(rng);
    const Workload training = testing::random_training(rng, cluster);
    const Workload traced =
        testing::random_workload(rng, cluster, {.types = true, .shares = i % 2 == 0});
    for (const char* const name : {"slaq", "optimus", "hypersched"}) {
      SCOPED_TRACE(::testing::Message() << "case " << i << ", policy " << name);
      const auto info = find_policy(name);
      ASSERT_TRUE(info);
      const auto make = [&] { return testing::quick_policy(**info); };
      const char* const predict = i % 3 == 0 ? "none" : "noisy:1";
      for (const Workload* const workload : {&training, &traced}) {
        const auto run = testing::run_elastic(cluster, *workload, make, predict);
        for (std::size_t j = 0; j < workload->jobs.size(); ++j) {
          EXPECT_TRUE(run.result.states[j].ended() ||
                      run.result.reasons[j].code == ReasonCode::kNeverFits ||
                      run.result.reasons[j].code == ReasonCode::kNeverGpuType);
        }
      }
    }
  }
}

// Without predictions jobs that report nothing are served as they come: the same as fifo, which
// passes nothing over, where all ask for one GPU.
TEST(ElasticProperty, WithoutPredictionsFirstComeFirstServed) {
  for (int i = 0; i < testing::cases(50); ++i) {
    Rng rng(62'000 + static_cast<std::uint64_t>(i));
    std::vector<testing::SimpleJob> jobs;
    double now_s = 0;
    for (int j = 0; j < 40; ++j) {
      now_s += static_cast<double>(rng.below(3));
      jobs.push_back({.submit_s = now_s, .run_s = 1 + static_cast<double>(rng.below(20))});
    }
    const Workload workload = testing::workload_of(jobs);
    const Cluster cluster = testing::cluster_of("2x2");
    const auto fifo =
        testing::run_policy(cluster, workload, "fifo", {.predict = "none", .faults = {}});
    for (const char* const name : {"slaq", "optimus", "hypersched"}) {
      const auto run =
          testing::run_policy(cluster, workload, name, {.predict = "none", .faults = {}});
      EXPECT_EQ(testing::first_difference(fifo.log, run.log), "") << name;
    }
  }
}

}  // namespace
}  // namespace berth
