#include "policy/graphene/graphene.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "policy/common/options.h"
#include "policy/common/ranked_policy.h"
#include "policy/common/remaining.h"

namespace berth {
namespace {

// Sums of what servers state of a resource.
struct Capacity {
  double gpu_milli = 0;
  double cpu_milli = 0;
  double memory_mib = 0;
};

Capacity capacity_of(const Cluster& cluster) {
  Capacity sum;
  for (const Server& server : cluster.servers) {
    sum.gpu_milli += static_cast<double>(server.gpus) * kWholeGpuMilli;
    sum.cpu_milli += static_cast<double>(server.capacity[Resource::kCpuMilli]);
    sum.memory_mib += static_cast<double>(server.capacity[Resource::kMemoryMib]);
  }
  return sum;
}

double footprint_of(const Capacity& capacity, const Job& job) {
  double parts = 0;
  int kinds = 0;
  const auto add = [&](double asked, double all) {
    if (all <= 0) return;
    parts += std::min(1.0, asked / all);
    ++kinds;
  };
  add(static_cast<double>(job.gpu_milli()), capacity.gpu_milli);
  add(static_cast<double>(job.cpu_milli_per_task) * job.tasks, capacity.cpu_milli);
  add(static_cast<double>(job.memory_mib_per_task) * job.tasks, capacity.memory_mib);
  return kinds == 0 ? 0 : parts / kinds;
}

class Graphene final : public RankedPolicy {
 public:
  Graphene(const RankedSettings& settings, bool preempts, double packing_weight)
      : RankedPolicy(settings, preempts), packing_weight_(packing_weight) {}

 protected:
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const TimeUs left_us =
        remaining_us(round.view, round.predictors, id, as_of_us).value_or(kLastRank);
    if (!capacity_) capacity_ = capacity_of(*round.view.cluster);
    const double size = footprint_of(*capacity_, round.view.job(id));
    const double work = size * static_cast<double>(left_us);
    const double score = work / (1.0 + packing_weight_ * size);
    return std::llround(std::min(score * kUnit, kMostRank));
  }
  [[nodiscard]] bool waiting_ranks_change() const override { return false; }
  [[nodiscard]] bool places_widest_first() const override { return true; }
  void forget() override { capacity_.reset(); }

 private:
  // Ranks are whole numbers: a microsecond of a thousandth of the cluster.
  static constexpr double kUnit = 1e3;
  static constexpr double kMostRank = 4e18;

  double packing_weight_;
  std::optional<Capacity> capacity_;
};

}  // namespace

double footprint(const Cluster& cluster, const Job& job) {
  return footprint_of(capacity_of(cluster), job);
}

Result<std::unique_ptr<Policy>> make_graphene(std::span<const PolicyOption> options) {
  RankedSettings settings;
  double preempts = 1;
  double packing_weight = 5;
  auto numbers = settings.numbers();
  numbers.push_back({"preempts", &preempts, 0, 1});
  numbers.push_back({"packing_weight", &packing_weight, 0, 1e9});
  BERTH_CHECK_OK(read_options("graphene", options, numbers));
  return std::make_unique<Graphene>(settings, preempts > 0, packing_weight);
}

}  // namespace berth
