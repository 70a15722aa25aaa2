#include "policy/themis/themis.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "policy/common/ranked_policy.h"
#include "policy/common/remaining.h"

namespace berth {
namespace {

class Themis final : public RankedPolicy {
 public:
  Themis(const RankedSettings& settings, double fairness_knob)
      : RankedPolicy(settings, true),
        lease_s_(std::max(1.0, settings.least_run_s)),
        offered_(1.0 - fairness_knob) {}

 protected:
  [[nodiscard]] bool ranks_depend_on_all() const override { return true; }

  void look_at_all(const Round& round) override {
    rhos_.clear();
    active_ = 0;
    for_each_active([&](JobId) { ++active_; });
    for_each_active([&](JobId id) { rhos_.push_back(rho(round, id)); });
    const auto among =
        static_cast<std::ptrdiff_t>(std::ceil(offered_ * static_cast<double>(rhos_.size())) - 1);
    const auto last = rhos_.begin() + std::clamp<std::ptrdiff_t>(
                                          among, 0, static_cast<std::ptrdiff_t>(rhos_.size()) - 1);
    std::nth_element(rhos_.begin(), last, rhos_.end(), std::greater<>());
    least_offered_ = *last;
  }

  Rank rank(const Round& round, JobId id, TimeUs /*as_of_us*/) override {
    const double worth = rho(round, id);
    // Both are positive and far below 2^20 where they differ at all.
    if (worth >= least_offered_) return scaled(1.0 / (1.0 + bid(round, id)));
    return kOthers + scaled(1.0 / (1.0 + worth));
  }

 private:
  static constexpr Rank kOthers = Rank{1} << 61;

  static Rank scaled(double zero_to_one) { return static_cast<Rank>(std::ldexp(zero_to_one, 60)); }

  [[nodiscard]] static double age_s(const Round& round, JobId id) {
    return seconds(round.view.now_us - round.view.job(id).submit_us);
  }
  [[nodiscard]] static double left_s(const Round& round, JobId id) {
    const auto left = remaining_us(round.view, round.predictors, id, round.view.now_us);
    return left ? seconds(*left) : 0.0;
  }
  [[nodiscard]] static double gpus(const Round& round, JobId id) {
    return std::max(1e-3, static_cast<double>(round.view.job(id).gpu_milli()) / 1000.0);
  }

  [[nodiscard]] double rho(const Round& round, JobId id) const {
    const double had_s = seconds(round.view.state(id).attained_by(round.view.now_us));
    const double alone_s = std::max(1.0, had_s + left_s(round, id));
    const double share =
        static_cast<double>(round.view.cluster->gpus()) / static_cast<double>(active_);
    const double ideal_s = alone_s * std::max(1.0, gpus(round, id) / share);
    return (age_s(round, id) + left_s(round, id)) / ideal_s;
  }
  // How much better off it is with GPUs now than a lease later, per GPU.
  [[nodiscard]] double bid(const Round& round, JobId id) const {
    const double end_s = std::max(1.0, age_s(round, id) + left_s(round, id));
    return std::log1p(lease_s_ / end_s) / gpus(round, id);
  }

  double lease_s_;
  double offered_;
  std::size_t active_ = 1;
  double least_offered_ = 0;
  std::vector<double> rhos_;  // scratch
};

}  // namespace

Result<std::unique_ptr<Policy>> make_themis(std::span<const PolicyOption> options) {
  RankedSettings settings;
  settings.least_run_s = 1'200;
  double fairness_knob = 0.8;
  auto numbers = settings.numbers();
  numbers.push_back({"fairness_knob", &fairness_knob, 0, 1});
  BERTH_CHECK_OK(read_options("themis", options, numbers));
  return std::make_unique<Themis>(settings, fairness_knob);
}

}  // namespace berth
