#include "policy/graphene/graphene.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "policy/common/demand.h"
#include "policy/common/options.h"
#include "policy/common/ranked_policy.h"
#include "policy/common/remaining.h"

namespace berth {
namespace {

double footprint_of(const ResourceVector& capacity, const Job& job) {
  const ResourceVector demand = demand_of(job);
  double parts = 0;
  int kinds = 0;
  for (const Resource kind : kDemanded) {
    if (capacity[kind] <= 0) continue;
    parts += std::min(1.0, static_cast<double>(demand[kind]) / static_cast<double>(capacity[kind]));
    ++kinds;
  }
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
  std::optional<ResourceVector> capacity_;
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
