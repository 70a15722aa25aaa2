#include "policy/slaq/slaq.h"

#include <algorithm>

#include "policy/common/elastic_policy.h"
#include "policy/common/progress.h"

namespace berth {
namespace {

class Slaq final : public ElasticPolicy {
 public:
  Slaq(const ElasticSettings& settings, double decay, bool one, bool whole)
      : ElasticPolicy(settings, one), decay_(decay), whole_(whole) {}

 protected:
  void forget() override { fits_.clear(); }

  void value_replicas(const Round& round, JobId id, TimeUs as_of_us,
                      std::span<double> worth) override {
    const auto progress = progress_of(round.view, round.predictors, id);
    if (!progress) return value_by_prediction(round, id, as_of_us, worth);
    const Job& job = round.view.job(id);
    const double gpus = gpus_of_replica(job);
    if (!progress->replica_per_s) {
      // Unknown in all: has to show something first.
      constexpr double kUnknown = 1e30;
      worth[0] = kUnknown / (1.0 + seconds(job.submit_us));
      return;
    }
    const double step = *progress->replica_per_s * seconds(interval_us());
    const Losses& losses =
        fits_.get(id, fitted_part(progress->done), [&] { return fit(round, id, progress->done); });
    const auto done = static_cast<double>(progress->done);
    const double most = progress->most ? static_cast<double>(*progress->most) : 1e300;
    double from = done;
    for (double& value : worth) {
      const double to = std::min(from + step, most);
      value = drop(losses, from, to, most) / gpus;
      from = to;
    }
  }

 private:
  struct Losses {
    std::optional<FallingCurve> curve;
    double largest = 0;  // drop of an iteration so far
    double first = 0;
  };

  Losses fit(const Round& round, JobId id, std::int64_t done) const {
    const auto points =
        points_to_fit(*round.view.telemetry, id, Report::kLoss, fitted_part(done), decay_);
    Losses out{.curve = fit_sublinear_or_geometric(points)};
    if (!points.empty()) out.first = points.front().value;
    for (std::size_t k = 1; k < points.size(); ++k) {
      out.largest = std::max(out.largest, (points[k - 1].value - points[k].value) /
                                              (points[k].iteration - points[k - 1].iteration));
    }
    if (done >= 1) {
      const auto before = round.view.telemetry->loss(id, 0);
      const auto after = round.view.telemetry->loss(id, 1);
      if (before && after) out.largest = std::max(out.largest, *before - *after);
    }
    return out;
  }

  [[nodiscard]] double drop(const Losses& losses, double from, double to, double most) const {
    if (whole_) {
      if (!losses.curve) return (to - from) / std::max(most, 1.0) * 4;
      const double range = losses.first - losses.curve->floor;
      return range > 0 ? (losses.curve->at(from) - losses.curve->at(to)) / range : 0;
    }
    if (!losses.curve || !(losses.largest > 0)) return to - from;
    return (losses.curve->at(from) - losses.curve->at(to)) / losses.largest;
  }

  double decay_;
  bool whole_;
  FitCache<Losses> fits_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_slaq(std::span<const PolicyOption> options) {
  ElasticSettings settings;
  double decay = 0.9;
  double one = 1;
  double whole = 0;
  auto numbers = settings.numbers();
  numbers.push_back({"decay", &decay, 0.01, 1});
  numbers.push_back({"one", &one, 0, 1});
  numbers.push_back({"whole", &whole, 0, 1});
  BERTH_CHECK_OK(read_options("slaq", options, numbers));
  return std::make_unique<Slaq>(settings, decay, one > 0.5, whole > 0.5);
}

}  // namespace berth
