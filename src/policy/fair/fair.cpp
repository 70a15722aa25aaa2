#include "policy/fair/fair.h"

#include <algorithm>

#include "base/int128.h"
#include "policy/common/ranked_policy.h"

namespace berth {
namespace {

class Fair final : public RankedPolicy {
 public:
  explicit Fair(const RankedSettings& settings) : RankedPolicy(settings, true) {}

 protected:
  // Mean GPUs held since submission, in billionths of a GPU.
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const TimeUs age_us = as_of_us - round.view.job(id).submit_us;
    if (age_us <= 0) return 0;
    constexpr Int128 kPerMilli = 1'000'000;
    const Int128 gpu_time = static_cast<Int128>(round.view.state(id).attained_by(as_of_us)) *
                            round.view.job(id).gpu_milli() * kPerMilli;
    return static_cast<Rank>(std::min<Int128>(gpu_time / age_us, kLastRank));
  }
};

}  // namespace

Result<std::unique_ptr<Policy>> make_fair(std::span<const PolicyOption> options) {
  RankedSettings settings;
  settings.least_run_s = 1'200;  // tried: 300, 1,200, 3,600
  BERTH_CHECK_OK(read_options("fair", options, settings.numbers()));
  return std::make_unique<Fair>(settings);
}

}  // namespace berth
