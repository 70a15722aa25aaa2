#include "policy/hypersched/hypersched.h"

#include <algorithm>

#include "policy/common/elastic_policy.h"
#include "policy/common/progress.h"

namespace berth {
namespace {

// Paused jobs, in the order of their remaining time, after all that are worth something.
constexpr double kPaused = 1e-20;

struct HyperSchedSettings {
  double least_gain = 0.0002;
  double startup_s = 60;
};

class HyperSched final : public ElasticPolicy {
 public:
  HyperSched(const ElasticSettings& settings, const HyperSchedSettings& own)
      : ElasticPolicy(settings, true), own_(own) {}

 protected:
  void forget() override { fits_.clear(); }

  void value_replicas(const Round& round, JobId id, TimeUs as_of_us,
                      std::span<double> worth) override {
    value_by_prediction(round, id, as_of_us, worth);
    const auto progress = progress_of(round.view, round.predictors, id);
    if (!progress || !progress->most || !progress->replica_per_s) return;
    const Job& job = round.view.job(id);
    const std::uint32_t running = running_replicas(round.view, id);
    const double per_s = *progress->replica_per_s;
    const auto left = static_cast<double>(*progress->most - progress->done);
    const double usable_s =
        job.deadline_us.known() ? seconds(job.deadline_us.value() - as_of_us) : left / per_s;
    // The iterations of so many replicas until the deadline; those that start lose some time.
    const auto iterations_of = [&](double replicas) {
      const double start = std::max(0.0, replicas - running);
      return per_s * (replicas * usable_s - start * own_.startup_s);
    };
    const Growth growth = growth_of(round, id, *progress);
    if (growth.until(iterations_of(job.replicas)) < own_.least_gain) {
      for (double& value : worth) value *= kPaused;
      return;
    }
    const double gpus = gpus_of_replica(job);
    double before = 0.0;
    for (std::size_t k = 0; k < worth.size(); ++k) {
      const auto replicas = static_cast<double>(k + 1);
      const double reached = growth.until(iterations_of(replicas));
      const double used_s = std::clamp(left / (per_s * replicas), 1.0, std::max(usable_s, 1.0));
      worth[k] = (reached - before) / (used_s * gpus);
      before = reached;
    }
  }

 private:
  // The accuracy that further iterations bring.
  struct Growth {
    const FallingCurve* lacking;  // of 1; null: by `steady`
    double steady;                // an iteration
    double done;
    double left;
    double now;  // lacking

    [[nodiscard]] double until(double more) const {
      const double run = std::clamp(more, 0.0, left);
      return lacking != nullptr ? now - lacking->at(done + run) : steady * run;
    }
  };

  Growth growth_of(const Round& round, JobId id, const Progress& progress) {
    const std::int64_t part = fitted_part(progress.done);
    const auto& curve = fits_.get(id, part, [&] {
      return fit_inverse(points_to_fit(*round.view.telemetry, id, Report::kInaccuracy, part));
    });
    Growth out{.lacking = curve ? &*curve : nullptr,
               .steady = 0.0,
               .done = static_cast<double>(progress.done),
               .left = static_cast<double>(*progress.most - progress.done),
               .now = curve ? curve->at(static_cast<double>(progress.done)) : 0.0};
    constexpr std::int64_t kFew = 3;
    if (progress.done >= kFew) return out;  // if not by a curve, it has shown that it does not rise
    const Job& job = round.view.job(id);
    const double wanted = job.required_accuracy_ppm < 0 ? 1.0 : job.required_accuracy_ppm / 1e6;
    out.steady = wanted / std::max(static_cast<double>(*progress.most), 1.0);
    return out;
  }

  HyperSchedSettings own_;
  FitCache<std::optional<FallingCurve>> fits_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_hypersched(std::span<const PolicyOption> options) {
  ElasticSettings settings{.interval_s = 1200};
  HyperSchedSettings own;
  auto numbers = settings.numbers();
  numbers.push_back({"least_gain", &own.least_gain, 0, 1});
  numbers.push_back({"startup_s", &own.startup_s, 0, 86'400});
  BERTH_CHECK_OK(read_options("hypersched", options, numbers));
  return std::make_unique<HyperSched>(settings, own);
}

}  // namespace berth
