#include "policy/tiresias/tiresias.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "policy/common/ranked_policy.h"
#include "policy/tiresias/gittins.h"

namespace berth {
namespace {

// Thousandths of a GPU times microseconds.
Int128 attained_service(const ClusterView& view, JobId id, TimeUs at_us) {
  return static_cast<Int128>(view.state(id).attained_by(at_us)) * view.job(id).gpu_milli();
}

constexpr double kServicePerGpuS = 1e9;

// Queue first, then first come first served.
std::int64_t rank_in_queue(std::size_t queue, TimeUs submit_us) {
  constexpr int kTimeBits = 56;  // 2,280 years
  constexpr TimeUs kLast = (TimeUs{1} << kTimeBits) - 1;
  return static_cast<std::int64_t>(queue) << kTimeBits | std::min(submit_us, kLast);
}

// Tried on seeds 101 to 104 of `paper`: 600, 3,200, 10,000 and 30,000 alone, and 3,200 / 30,000,
// 5,000 / 100,000, 10,000 / 100,000, 10,000 / 200,000, 20,000 / 200,000, 30,000 / 300,000.
struct Thresholds {
  double first_gpu_s = 10'000;
  double second_gpu_s = 100'000;  // 0: two queues
};

class Tiresias final : public RankedPolicy {
 public:
  Tiresias(const RankedSettings& settings, const Thresholds& thresholds)
      : RankedPolicy(settings, true) {
    for (const double gpu_s : {thresholds.first_gpu_s, thresholds.second_gpu_s}) {
      if (gpu_s > 0) thresholds_.push_back(static_cast<Int128>(gpu_s * kServicePerGpuS));
    }
    std::sort(thresholds_.begin(), thresholds_.end());
  }

 protected:
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const Int128 service = attained_service(round.view, id, as_of_us);
    const auto queue = static_cast<std::size_t>(
        std::upper_bound(thresholds_.begin(), thresholds_.end(), service) - thresholds_.begin());
    return rank_in_queue(queue, round.view.job(id).submit_us);
  }
  [[nodiscard]] bool waiting_ranks_change() const override { return false; }

 private:
  std::vector<Int128> thresholds_;
};

// Until so many jobs have ended nothing is known of the distribution: least attained service first.
constexpr std::uint64_t kEnoughJobs = 20;

class TiresiasGittins final : public RankedPolicy {
 public:
  explicit TiresiasGittins(const RankedSettings& settings) : RankedPolicy(settings, true) {}

 protected:
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    learn(as_of_us);
    const auto service =
        static_cast<double>(attained_service(round.view, id, as_of_us)) / kServicePerGpuS;
    const std::size_t level = GittinsIndex::level(service);
    return rank_in_queue(place_of(level), round.view.job(id).submit_us);
  }
  void forget() override {
    index_ = {};
    places_as_of_ = kNever;
    counted_.clear();
    ended_ = {};
  }
  void note_ended(const Round& round, JobId id) override {
    if (counted_.size() <= id.index()) counted_.resize(round.view.jobs.size());
    if (counted_[id.index()]) return;
    counted_[id.index()] = true;
    const JobState& state = round.view.state(id);
    if (state.status != JobStatus::kFinished) return;
    const Int128 service = attained_service(round.view, id, round.view.now_us);
    ended_.push({state.last_stop_us, static_cast<double>(service) / kServicePerGpuS});
  }

 private:
  using Ended = std::pair<TimeUs, double>;  // when, and the service that it took

  // Only what ended before: a rank must not depend on when it is asked for.
  void learn(TimeUs as_of_us) {
    const bool news = !ended_.empty() && ended_.top().first < as_of_us;
    if (places_as_of_ == as_of_us && !news) return;
    places_as_of_ = as_of_us;
    while (!ended_.empty() && ended_.top().first < as_of_us) {
      index_.add(ended_.top().second);
      ended_.pop();
    }
    for (std::size_t level = 0; level < GittinsIndex::kLevels; ++level) order_[level] = level;
    if (index_.known() >= kEnoughJobs) {
      std::stable_sort(order_.begin(), order_.end(),
                       [&](std::size_t a, std::size_t b) { return index_.at(a) > index_.at(b); });
    }
    for (std::size_t place = 0; place < order_.size(); ++place) places_[order_[place]] = place;
  }
  [[nodiscard]] std::size_t place_of(std::size_t level) const { return places_[level]; }

  GittinsIndex index_;
  std::priority_queue<Ended, std::vector<Ended>, std::greater<>> ended_;  // and not yet in index_
  std::vector<bool> counted_;                                             // by JobId
  TimeUs places_as_of_ = kNever;
  std::array<std::size_t, GittinsIndex::kLevels> order_{};   // levels, highest index first
  std::array<std::size_t, GittinsIndex::kLevels> places_{};  // by level: its place in order_
};

}  // namespace

Result<std::unique_ptr<Policy>> make_tiresias(std::span<const PolicyOption> options) {
  RankedSettings settings;
  Thresholds thresholds;
  auto numbers = settings.numbers();
  numbers.push_back({"threshold_gpu_s", &thresholds.first_gpu_s, 0, 1e12});
  numbers.push_back({"threshold2_gpu_s", &thresholds.second_gpu_s, 0, 1e12});
  BERTH_CHECK_OK(read_options("tiresias", options, numbers));
  return std::make_unique<Tiresias>(settings, thresholds);
}

Result<std::unique_ptr<Policy>> make_tiresias_gittins(std::span<const PolicyOption> options) {
  RankedSettings settings;
  BERTH_CHECK_OK(read_options("tiresias-gittins", options, settings.numbers()));
  return std::make_unique<TiresiasGittins>(settings);
}

}  // namespace berth
