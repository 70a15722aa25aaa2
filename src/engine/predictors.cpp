#include "engine/predictors.h"

#include <cmath>

#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "curve/run_time_history.h"

namespace berth {
namespace {

// Far beyond any run, and small enough to add to.
constexpr TimeUs kLongest = kNever / 4;

class NoPredictors final : public Predictors {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] std::optional<TimeUs> run_time_us(JobId /*job*/) const override {
    return std::nullopt;
  }
};

// Run times known beforehand: true, or the truth with an error.
class TablePredictors final : public Predictors {
 public:
  TablePredictors(std::string name, std::vector<TimeUs> run_times_us)
      : name_(std::move(name)), run_times_us_(std::move(run_times_us)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::optional<TimeUs> run_time_us(JobId job) const override {
    return run_times_us_[job.index()];
  }

 private:
  std::string name_;
  std::vector<TimeUs> run_times_us_;  // by JobId
};

// What a scheduler learns by itself (curve/run_time_history.h).
class HistoryPredictors final : public Predictors {
 public:
  [[nodiscard]] std::string_view name() const override { return "history"; }
  void follow(const ClusterView& view) override { history_.follow(view); }
  [[nodiscard]] std::optional<TimeUs> run_time_us(JobId job) const override {
    return history_.run_time_us(job);
  }

 private:
  RunTimeHistory history_;
};

}  // namespace

std::unique_ptr<Predictors> learn_from_history() {
  return std::make_unique<HistoryPredictors>();
}

std::unique_ptr<Predictors> believe(std::string name, std::vector<TimeUs> run_times_us) {
  return std::make_unique<TablePredictors>(std::move(name), std::move(run_times_us));
}

Result<std::unique_ptr<Predictors>> make_predictors(std::string_view spec, const Workload& workload,
                                                    std::uint64_t seed) {
  if (spec == "none") return std::make_unique<NoPredictors>();
  if (spec == "history") return learn_from_history();
  std::vector<TimeUs> run_times_us;
  run_times_us.reserve(workload.truths.size());
  if (spec == "oracle") {
    for (const JobTruth& truth : workload.truths) run_times_us.push_back(truth.work_us);
    return std::make_unique<TablePredictors>(std::string(spec), std::move(run_times_us));
  }
  if (spec.starts_with("noisy:")) {
    const auto sigma = parse_number(spec.substr(6));
    if (!sigma || *sigma < 0 || *sigma > 10) {
      Error error = usage_error("not a noise", "--predict");
      error.found = std::string(spec);
      error.expected = "noisy:SIGMA with SIGMA from 0 to 10";
      return fail(std::move(error));
    }
    Rng rng = Rng(seed).fork("predictor-noise");
    for (const JobTruth& truth : workload.truths) {
      const double factor = rng.log_normal(0.0, *sigma);
      const double us = static_cast<double>(truth.work_us) * factor;
      run_times_us.push_back(us < static_cast<double>(kLongest) ? std::llround(us) : kLongest);
    }
    return std::make_unique<TablePredictors>(std::string(spec), std::move(run_times_us));
  }
  constexpr std::string_view kNames[] = {"oracle", "noisy:SIGMA", "history", "none"};
  return fail(usage_error(unknown_name("predictor", spec, kNames), "--predict"));
}

}  // namespace berth
