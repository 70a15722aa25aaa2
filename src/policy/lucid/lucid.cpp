#include "policy/lucid/lucid.h"

#include "place/empty_devices.h"
#include "policy/common/options.h"
#include "policy/common/ranked_policy.h"
#include "policy/lucid/pairs.h"

namespace berth {
namespace {

class Lucid final : public RankedPolicy {
 public:
  Lucid(const RankedSettings& settings, const PackingRules& rules)
      : RankedPolicy(settings, false), rules_(rules) {}

 protected:
  Rank rank(const Round& round, JobId id, TimeUs /*as_of_us*/) override {
    return lucid_priority(round.view.job(id), round.predictors, id);
  }
  [[nodiscard]] bool waiting_ranks_change() const override { return false; }

  // What others leave of their devices is nobody's but a partner's.
  [[nodiscard]] Reason shortage(const Job& job) const override {
    Reason reason = RankedPolicy::shortage(job);
    if (job.gpu_milli_per_task == kWholeGpuMilli || fits_empty(free_, job)) return reason;
    reason.code = ReasonCode::kNoFreeDevice;
    reason.available = free_.whole_free_milli(job.gpu_types);
    return reason;
  }

  Placer* placer(const Round& round) override {
    placer_.begin(round.view, round.predictors);
    running_jobs().for_each(
        [&](std::uint32_t j) { placer_.add_host(JobId{j}, round.view.placements_of(JobId{j})); });
    return &placer_;
  }

 private:
  PackingRules rules_;
  PairPlacer placer_{free_, rules_};
};

}  // namespace

Result<std::unique_ptr<Policy>> make_lucid(std::span<const PolicyOption> options) {
  RankedSettings settings;
  PackingRules rules;
  std::vector<NumberSetting> numbers = {
      {"patience_h", &settings.patience_h, 0, 1e6},
      {"patient_share", &settings.patient_share, 0, 1},
      {"tiny_util", &rules.tiny_util, 0, 1},
      {"jumbo_util", &rules.jumbo_util, 0, 1},
      {"most_score", &rules.most_score, 0, 4},
      {"most_gpus", &rules.most_gpus, 0, 1e6},
      {"most_ratio", &rules.most_ratio, 0, 1e9},
  };
  BERTH_CHECK_OK(read_options("lucid", options, numbers));
  return std::make_unique<Lucid>(settings, rules);
}

}  // namespace berth
