#include "policy/slaq/slaq.h"

#include <algorithm>

#include "policy/common/elastic_policy.h"
#include "policy/common/progress.h"

namespace berth {
namespace {

class Slaq final : public ElasticPolicy {
 public:
  Slaq(const ElasticSettings& settings, double decay)
      : ElasticPolicy(settings, true), decay_(decay) {}

 protected:
  void forget() override { fits_.clear(); }

  void value_replicas(const Round& round, JobId id, TimeUs as_of_us,
                      std::span<double> worth) override {
    const auto progress = progress_of(round.view, round.predictors, id);
    if (!progress) return value_by_prediction(round, id, as_of_us, worth);
    const Job& job = round.view.job(id);
    if (!progress->replica_per_s) {
      worth[0] = kUnknown / (1.0 + seconds(job.submit_us));
      return;
    }
    const std::int64_t part = fitted_part(progress->done);
    const Losses& losses = fits_.get(id, part, [&] { return fit(round, id, part); });
    const double step = *progress->replica_per_s * seconds(interval_us());
    const double most = progress->most ? static_cast<double>(*progress->most) : kEndless;
    const double gpus = gpus_of_replica(job);
    auto from = static_cast<double>(progress->done);
    for (double& value : worth) {
      const double to = std::min(from + step, most);
      value = drop(losses, from, to, most) / gpus;
      from = to;
    }
  }

 private:
  // Of jobs of which nothing is known: more than any drop, the first to come the most.
  static constexpr double kUnknown = 1e30;
  static constexpr double kEndless = 1e300;

  struct Losses {
    std::optional<FallingCurve> curve;
    double first = 0;
  };

  Losses fit(const Round& round, JobId id, std::int64_t part) const {
    const auto points = points_to_fit(*round.view.telemetry, id, Report::kLoss, part, decay_);
    if (points.empty()) return {};
    return {fit_sublinear_or_geometric(points), points.front().value};
  }

  // As a part of the whole way from the first loss to the one that it converges to.
  static double drop(const Losses& losses, double from, double to, double most) {
    if (!losses.curve) return (to - from) / std::max(most, 1.0);
    const double whole = losses.first - losses.curve->floor;
    return whole > 0 ? (losses.curve->at(from) - losses.curve->at(to)) / whole : 0.0;
  }

  double decay_;
  FitCache<Losses> fits_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_slaq(std::span<const PolicyOption> options) {
  ElasticSettings settings{.interval_s = 1800, .hold = 0.5};
  double decay = 0.9;
  auto numbers = settings.numbers();
  numbers.push_back({"decay", &decay, 0.01, 1});
  BERTH_CHECK_OK(read_options("slaq", options, numbers));
  return std::make_unique<Slaq>(settings, decay);
}

}  // namespace berth
