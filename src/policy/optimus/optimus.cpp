#include "policy/optimus/optimus.h"

#include <algorithm>

#include "curve/learning_curve.h"
#include "curve/least_squares.h"
#include "policy/common/elastic_policy.h"
#include "policy/common/progress.h"

namespace berth {
namespace {

// Of w workers together: w / (compute_s + wait_s * w) iterations a second.
struct Speed {
  double compute_s = 0;
  double wait_s = 0;

  [[nodiscard]] double at(double workers) const { return workers / (compute_s + wait_s * workers); }
};

class Optimus final : public ElasticPolicy {
 public:
  explicit Optimus(const ElasticSettings& settings) : ElasticPolicy(settings, true) {}

 protected:
  void forget() override { fits_.clear(); }

  void value_replicas(const Round& round, JobId id, TimeUs as_of_us,
                      std::span<double> worth) override {
    const auto progress = progress_of(round.view, round.predictors, id);
    if (!progress || !progress->most || !progress->replica_per_s) {
      return value_by_prediction(round, id, as_of_us, worth);
    }
    const Job& job = round.view.job(id);
    const double gpus = gpus_of_replica(job);
    const double left = std::max(1.0, iterations_left(round, id, *progress));
    const Speed speed = speed_of(round.view, id, *progress);
    double time_s = left / speed.at(1);
    worth[0] = 1.0 / (time_s * gpus);
    for (std::size_t k = 1; k < worth.size(); ++k) {
      const double shorter_s = left / speed.at(static_cast<double>(k + 1));
      worth[k] = (time_s - shorter_s) / gpus;
      time_s = shorter_s;
    }
  }

 private:
  // By the best that one replica ever did, and by what all do now.
  static Speed speed_of(const ClusterView& view, JobId id, const Progress& progress) {
    const std::uint32_t running = running_replicas(view, id);
    const double alone = progress.best_replica_per_s.value_or(*progress.replica_per_s);
    if (running <= 1) return {1.0 / *progress.replica_per_s, 0.0};
    LeastSquares<2> times;
    times.add({1.0, 1.0}, 1.0 / alone);
    times.add({1.0, static_cast<double>(running)}, 1.0 / *progress.replica_per_s);
    const auto [compute_s, wait_s] = times.non_negative();
    return {compute_s, wait_s};
  }

  // By the given iterations and by the stop option, as the fit has it.
  double iterations_left(const Round& round, JobId id, const Progress& progress) {
    const Job& job = round.view.job(id);
    const auto done = static_cast<double>(progress.done);
    const auto most = static_cast<double>(*progress.most);
    if (job.stop == StopOption::kIterations) return most - done;
    const auto& curve = fits_.get(id, fitted_part(progress.done), [&] {
      return fit_inverse(points_to_fit(*round.view.telemetry, id, Report::kInaccuracy,
                                       fitted_part(progress.done)));
    });
    if (!curve) return most - done;
    return std::clamp(end_by(*curve, job, most) - done, 0.0, most - done);
  }

  // Where the job's stop option ends it, at most after `most` iterations.
  static double end_by(const FallingCurve& curve, const Job& job, double most) {
    if (job.stop == StopOption::kAccuracy) {
      if (job.required_accuracy_ppm < 0) return most;
      return curve.first_at(1.0 - job.required_accuracy_ppm / 1e6).value_or(most);
    }
    constexpr double kParts = LearningCurve::kOptStopParts;
    for (double end = most / kParts; end < most; end += most / kParts) {
      const double gain = curve.at(end - most / kParts) - curve.at(end);
      if (gain < LearningCurve::kOptStopLeastGain) return end;
    }
    return most;
  }

  FitCache<std::optional<FallingCurve>> fits_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_optimus(std::span<const PolicyOption> options) {
  ElasticSettings settings;
  BERTH_CHECK_OK(read_options("optimus", options, settings.numbers()));
  return std::make_unique<Optimus>(settings);
}

}  // namespace berth
