// Jobs that can do with fewer replicas, for arithmetic by hand: an iteration of a replica takes a
// second, nothing costs anything, and nothing is exchanged.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "policy/common/elastic_policy.h"
#include "support/training.h"

namespace berth::testing {

class ElasticJobs {
 public:
  // Of so many iterations in all; its predicted run time is that on all replicas.
  Job& add(double submit_s, std::uint32_t replicas, std::int64_t iterations);
  LearningCurve& curve(std::size_t job) { return workload_.training.jobs[job].curve; }
  [[nodiscard]] const Workload& workload() const { return workload_; }

 private:
  Workload workload_;
};

// Replicas are worth what a function says: of the job, and how many it has with this one.
class WorthPolicy final : public ElasticPolicy {
 public:
  using Worth = std::function<double(JobId job, std::size_t number)>;
  WorthPolicy(const ElasticSettings& settings, Worth worth)
      : ElasticPolicy(settings, false), worth_(std::move(worth)) {}

 protected:
  void value_replicas(const Round& /*round*/, JobId id, TimeUs /*as_of_us*/,
                      std::span<double> worth) override {
    for (std::size_t k = 0; k < worth.size(); ++k) worth[k] = worth_(id, k + 1);
  }

 private:
  Worth worth_;
};

// With every invariant checked, and once more with caches dropped now and then, which must change
// nothing.
[[nodiscard]] Run run_elastic(const Cluster& cluster, const Workload& workload,
                              const std::function<std::unique_ptr<Policy>()>& make,
                              std::string_view predict = "oracle");

}  // namespace berth::testing
