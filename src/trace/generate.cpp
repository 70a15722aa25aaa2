#include "trace/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "base/cdf.h"
#include "base/text.h"
#include "trace/philly_facts.h"

namespace berth::trace {
namespace {

constexpr double kMaxScale = 1e6;

// n numbers that are each uniform in (0, 1) and together hit every n-th part of it once (Latin
// hypercube sampling, McKay et al. 1979), in random order.
std::vector<double> stratified(std::size_t n, Rng& rng) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = (static_cast<double>(i) + rng.uniform()) / static_cast<double>(n);
  }
  rng.shuffle(std::span(values));
  return values;
}

// Standard normal numbers that are correlated as the ranks of Philly's gaps are: 0.56 at lag 1,
// 0.44 at 10, 0.25 at 100, 0.20 at 200 (measured; the fit is a sum of three autoregressive
// processes and noise, whose variances add up to 1).
std::vector<double> correlated_normals(std::size_t n, Rng& rng) {
  struct Component {
    double variance;
    double keep;  // correlation from one to the next
    double state;
  };
  Component components[] = {{0.12, 0.85, 0}, {0.20, 0.98, 0}, {0.26, 0.9985, 0}};
  constexpr double kNoise = 0.42;
  for (Component& c : components) c.state = rng.normal(0, std::sqrt(c.variance));
  std::vector<double> values(n);
  for (double& value : values) {
    value = rng.normal(0, std::sqrt(kNoise));
    for (Component& c : components) {
      value += c.state;
      c.state = c.keep * c.state + rng.normal(0, std::sqrt(c.variance * (1 - c.keep * c.keep)));
    }
  }
  return values;
}

// An empirical distribution, thinned to at most 4,096 points.
class EmpiricalCdf {
 public:
  explicit EmpiricalCdf(std::vector<double> sample) {
    std::ranges::sort(sample);
    const std::size_t points = std::min<std::size_t>(sample.size(), 4096);
    for (std::size_t i = 0; i < points; ++i) {
      points_.push_back(sample[(2 * i + 1) * sample.size() / (2 * points)]);
    }
  }

  // The share of the sample below `value`, in (0, 1).
  [[nodiscard]] double share(double value) const {
    const auto above = std::ranges::upper_bound(points_, value);
    const double rank = static_cast<double>(above - points_.begin()) - 0.5 + inner(above, value);
    return std::clamp(rank / static_cast<double>(points_.size()), 1e-9, 1 - 1e-9);
  }

  // Kolmogorov's: the largest difference of the two shares, at the points of the other.
  [[nodiscard]] double distance(const EmpiricalCdf& other) const {
    double most = 0;
    for (std::size_t i = 0; i < other.points_.size(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(other.points_.size());
      most = std::max(most, std::abs(share(other.points_[i]) - at));
    }
    return most;
  }

 private:
  double inner(std::vector<double>::const_iterator above, double value) const {
    if (above == points_.begin() || above == points_.end()) return 0;
    return (value - *(above - 1)) / (*above - *(above - 1));
  }

  std::vector<double> points_;
};

// How far an hour of the week moves the gaps' scores: busy hours draw from the short gaps.
double rhythm_shift(TimeUs now_us) {
  // How strongly a score must move for the rate to follow; found by trial: with it, the generated
  // rate of each day and hour is Philly's to about a tenth.
  constexpr double kPerLogRate = 0.62;
  static const auto kShifts = [] {
    std::array<double, 168> shifts{};
    for (std::size_t h = 0; h < shifts.size(); ++h) {
      shifts[h] = -kPerLogRate * std::log(philly::kDayRate[h / 24] * philly::kHourRate[h % 24]);
    }
    return shifts;
  }();
  return kShifts[static_cast<std::size_t>(now_us / kUsPerHour) % kShifts.size()];
}

struct Arrivals {
  std::vector<TimeUs> times;
  std::vector<double> scores;
};

Arrivals arrivals_with(std::span<const double> normals, const EmpiricalCdf& cdf, double scale) {
  Arrivals out{.times = {0}, .scores = {}};
  out.times.reserve(normals.size() + 1);
  out.scores.reserve(normals.size());
  for (const double normal : normals) {
    const TimeUs now = out.times.back();
    out.scores.push_back(normal + rhythm_shift(now));
    const double gap = std::ceil(quantile(philly::gap_cdf(), cdf.share(out.scores.back())) - 0.5);
    out.times.push_back(now + static_cast<TimeUs>(std::llround(gap * 1e6 / scale)));
  }
  return out;
}

// The rhythm moves scores away from their distribution, by how much depends on the arrivals. So the
// distribution is taken from the run before. That settles but for chance (another gap early moves
// all that follow to other hours): the run that fits best is taken, or the first that fits well.
std::vector<TimeUs> arrival_times(std::size_t jobs, double scale, Rng rng) {
  constexpr int kMostRuns = 20;
  constexpr double kFitsWell = 0.003;  // largest difference of the two distributions
  const std::vector<double> normals = correlated_normals(jobs - 1, rng);
  if (normals.empty()) return {0};
  EmpiricalCdf cdf(normals);
  std::vector<TimeUs> best;
  double best_distance = 2;
  for (int run = 0; run < kMostRuns && best_distance > kFitsWell; ++run) {
    Arrivals arrivals = arrivals_with(normals, cdf, scale);
    EmpiricalCdf found(std::move(arrivals.scores));
    const double distance = cdf.distance(found);
    if (distance < best_distance) {
      best_distance = distance;
      best = std::move(arrivals.times);
    }
    cdf = std::move(found);
  }
  return best;
}

std::vector<std::int64_t> gpu_counts(std::size_t jobs, Rng rng) {
  std::vector<CdfPoint> cdf;
  double below = 0;
  for (const auto& size : philly::size_counts()) {
    below += size.jobs;
    cdf.push_back({below, static_cast<double>(size.gpus)});
  }
  std::vector<std::int64_t> gpus;
  gpus.reserve(jobs);
  for (const double u : stratified(jobs, rng)) {
    const auto at = std::ranges::lower_bound(cdf, u * below, {}, &CdfPoint::share);
    gpus.push_back(static_cast<std::int64_t>(at->value));
  }
  return gpus;
}

// Seconds, stratified among the jobs of equal GPU count.
std::vector<std::int64_t> durations_of(std::span<const std::int64_t> gpus, Rng rng) {
  std::vector<std::int64_t> durations(gpus.size());
  for (const auto& size : philly::size_counts()) {
    const auto n = static_cast<std::size_t>(std::ranges::count(gpus, size.gpus));
    const std::vector<double> u = stratified(n, rng);
    std::size_t next = 0;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (gpus[i] != size.gpus) continue;
      durations[i] =
          std::llround(quantile(philly::duration_cdf(size.gpus), u[next++], Between::kGeometric));
    }
  }
  return durations;
}

class VcDrawer {
 public:
  VcDrawer(Trace& trace, Rng rng) : rng_(rng) {
    for (const auto& vc : philly::vc_counts()) {
      names_.push_back(trace.vcs.index_of(vc.name));
      weights_.push_back(vc.jobs);
    }
  }

  // Jobs of one virtual cluster come in runs.
  std::uint32_t next() {
    if (first_ || !rng_.chance(philly::kVcStickiness)) last_ = names_[rng_.categorical(weights_)];
    first_ = false;
    return last_;
  }

 private:
  Rng rng_;
  std::vector<std::uint32_t> names_;
  std::vector<double> weights_;
  std::uint32_t last_ = NameTable::kNoName;
  bool first_ = true;
};

Status check(const GenerateOptions& options) {
  if (options.jobs == 0 || options.jobs > kMaxGeneratedJobs) {
    return fail(usage_error("number of jobs must be 1 to 100,000,000", "jobs"));
  }
  if (options.gpus < 1 || options.gpus > 1'000'000'000) {
    return fail(usage_error("number of GPUs must be 1 to 1,000,000,000", "gpus"));
  }
  const double scale = options.load * static_cast<double>(options.gpus) / philly::kClusterGpus;
  if (!(scale >= 1 / kMaxScale && scale <= kMaxScale)) {
    return fail(usage_error("load must be positive and within a million times Philly's", "load"));
  }
  return {};
}

}  // namespace

Result<Trace> generate_philly_like(const GenerateOptions& options, const Rng& rng) {
  BERTH_CHECK_OK(check(options));
  const double scale = options.load * static_cast<double>(options.gpus) / philly::kClusterGpus;
  const auto jobs = static_cast<std::size_t>(options.jobs);
  const std::vector<TimeUs> times = arrival_times(jobs, scale, rng.fork("arrivals"));
  const std::vector<std::int64_t> gpus = gpu_counts(jobs, rng.fork("gpus"));
  const std::vector<std::int64_t> durations = durations_of(gpus, rng.fork("durations"));

  Trace trace;
  trace.format = "generated";
  VcDrawer vc(trace, rng.fork("vcs"));
  trace.jobs.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    TraceJob& job = trace.jobs[i];
    job.id = trace.strings.keep(std::to_string(i));
    job.arrival_us = times[i];
    job.duration_us = durations[i] * kUsPerS;
    job.gpu_milli = gpus[i] * 1000;
    job.vc = vc.next();
  }
  return trace;
}

}  // namespace berth::trace
