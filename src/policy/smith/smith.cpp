#include "policy/smith/smith.h"

#include <algorithm>
#include <cmath>

#include "base/int128.h"
#include "policy/common/ranked_policy.h"
#include "policy/common/remaining.h"

namespace berth {
namespace {

class Smith final : public RankedPolicy {
 public:
  Smith(const RankedSettings& settings, double outlived)
      : RankedPolicy(settings, true), outlived_(outlived) {}
  // Logarithms of the two factors of the rank.
  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId id,
                      std::vector<PriorityTerm>& out) const override {
    // A factor of 0 takes the whole rank to 0, before all others: far less than a microsecond.
    constexpr double kNothing = 1e-15;
    const TimeUs left_us = left_us_of(view, predictors, id, as_of(view.now_us));
    const double gpus = static_cast<double>(view.job(id).gpu_milli()) / kWholeGpuMilli;
    out.push_back({"-ln(seconds left)", -std::log(std::max(seconds(left_us), kNothing))});
    out.push_back({"-ln(GPUs)", -std::log(std::max(gpus, kNothing))});
  }

 protected:
  // GPU time in thousandths of a GPU-microsecond. A job without a GPU takes nothing that is scarce.
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const TimeUs left_us = left_us_of(round.view, round.predictors, id, as_of_us);
    const Int128 gpu_time = static_cast<Int128>(left_us) * round.view.job(id).gpu_milli();
    return static_cast<Rank>(std::min<Int128>(gpu_time, kLastRank));
  }
  // What remains of a job that waits stays what it is.
  [[nodiscard]] bool waiting_ranks_change() const override { return false; }

 private:
  [[nodiscard]] TimeUs left_us_of(const ClusterView& view, const Predictors& predictors, JobId id,
                                  TimeUs as_of_us) const {
    return remaining_us(view, predictors, id, as_of_us, outlived_).value_or(kLastRank);
  }

  double outlived_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_smith(std::span<const PolicyOption> options) {
  RankedSettings settings;
  double outlived = 0;
  std::vector<NumberSetting> numbers = settings.numbers();
  numbers.push_back({"outlived", &outlived, 0, 100});
  BERTH_CHECK_OK(read_options("smith", options, numbers));
  return std::make_unique<Smith>(settings, outlived);
}

}  // namespace berth
