#include "curve/run_time_history.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/random.h"

namespace berth {
namespace {

constexpr std::uint32_t kAny = 0xFFFFFFFFU;
// Far beyond any run, and small enough to add to.
constexpr double kLongestUs = static_cast<double>(kNever / 4);

// Of the two ways to estimate, the one with the smaller error over about so many jobs.
constexpr double kErrorDecay = 0.99;

// Shorter runs are alike: they did not do what the job was for.
double log_seconds(TimeUs us) {
  return std::log(std::max(1.0, seconds(us)));
}

}  // namespace

std::size_t RunTimeHistory::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = 0;
  for (const std::uint32_t part : key) hash = mix64(hash ^ (part + 0x9E3779B97F4A7C15ULL));
  return hash;
}

RunTimeHistory::RunTimeHistory(const Settings& settings)
    : decay_(std::exp2(-1.0 / settings.half_life_jobs)), prior_jobs_(settings.prior_jobs) {}

void RunTimeHistory::clear() {
  times_ = {};
  iteration_times_ = {};
  time_error_ = {};
  iterations_error_ = {};
  guesses_.clear();
  ended_.clear();
  seen_ = 0;
}

void RunTimeHistory::Steps::add(std::span<const Key> keys, double value, double decay) {
  for (const Key& key : keys) {
    Mean& mean = means_[key];
    mean.weight = mean.weight * decay + 1;
    mean.sum = mean.sum * decay + value;
  }
}

std::optional<float> RunTimeHistory::Steps::estimate(std::span<const Key> keys,
                                                     double prior) const {
  std::optional<double> estimate;
  for (const Key& key : keys) {
    const auto found = means_.find(key);
    if (found == means_.end()) continue;
    const Mean& mean = found->second;
    estimate =
        estimate ? (mean.sum + prior * *estimate) / (mean.weight + prior) : mean.sum / mean.weight;
  }
  if (!estimate) return std::nullopt;
  return static_cast<float>(*estimate);
}

// From the general to the particular; steps for which the job lacks a name are left out.
std::size_t RunTimeHistory::keys_of(const Job& job, std::array<Key, 9>& keys) {
  std::size_t count = 0;
  const std::uint32_t user = job.user.value;
  const std::uint32_t vc = job.vc.value;
  const std::uint32_t model = job.model.value;
  const auto gpus = static_cast<std::uint32_t>(std::min<std::int64_t>(job.gpu_milli(), kAny - 1));
  const auto add = [&](std::uint32_t of_user, std::uint32_t of_vc, std::uint32_t of_model,
                       std::uint32_t of_gpus) {
    keys[count++] = {of_user, of_vc, of_model, of_gpus};
  };
  add(kAny, kAny, kAny, kAny);
  add(kAny, kAny, kAny, gpus);
  if (job.model.valid()) {
    add(kAny, kAny, model, kAny);
    add(kAny, kAny, model, gpus);
  }
  if (job.vc.valid()) {
    add(kAny, vc, kAny, kAny);
    add(kAny, vc, kAny, gpus);
  }
  if (job.user.valid()) {
    add(user, kAny, kAny, kAny);
    add(user, kAny, kAny, gpus);
    if (job.model.valid()) add(user, vc, model, gpus);
  }
  return count;
}

void RunTimeHistory::predict(const Job& job, Guess& guess) const {
  std::array<Key, 9> all;
  const std::span<const Key> keys = std::span(all).first(keys_of(job, all));
  guess.by_time = times_.estimate(keys, prior_jobs_);
  std::optional<float> log_s = guess.by_time;
  if (job.max_iterations.known() && job.max_iterations.value() > 0) {
    guess.by_iterations = iteration_times_.estimate(keys, prior_jobs_);
    if (guess.by_iterations) {
      *guess.by_iterations +=
          static_cast<float>(std::log(static_cast<double>(job.max_iterations.value())));
      const bool nearer = iterations_error_.sum <= time_error_.sum;
      if (nearer || !log_s) log_s = guess.by_iterations;
    }
  }
  if (!log_s) return;
  const double us = std::exp(static_cast<double>(*log_s)) * static_cast<double>(kUsPerS);
  guess.run_time_us = us < kLongestUs ? std::llround(us) : static_cast<TimeUs>(kLongestUs);
}

// Jobs that were stopped count as well: it is how long such jobs run.
void RunTimeHistory::learn(const ClusterView& view, JobId id) {
  Guess& guess = guesses_[id.index()];
  const JobState& state = view.state(id);
  if (guess.learned || state.status == JobStatus::kFailed || state.attained_us <= 0) return;
  guess.learned = true;
  const Job& job = view.job(id);
  const double log_s = log_seconds(state.attained_us);
  if (guess.by_time && guess.by_iterations) {
    const auto add_error = [&](Mean& error, double predicted) {
      error.weight = error.weight * kErrorDecay + 1;
      error.sum = error.sum * kErrorDecay + (log_s - predicted) * (log_s - predicted);
    };
    add_error(time_error_, *guess.by_time);
    add_error(iterations_error_, *guess.by_iterations);
  }
  std::array<Key, 9> all;
  const std::span<const Key> keys = std::span(all).first(keys_of(job, all));
  times_.add(keys, log_s, decay_);
  if (job.max_iterations.known() && job.max_iterations.value() > 0) {
    const double log_iterations = std::log(static_cast<double>(job.max_iterations.value()));
    iteration_times_.add(keys, log_s - log_iterations, decay_);
  }
}

void RunTimeHistory::follow(const ClusterView& view) {
  if (view.version < seen_) clear();
  const std::size_t known = guesses_.size();
  // Which changes are no longer kept, the states say.
  if (const auto changes = view.changes_since(seen_)) {
    for (const Change& change : *changes) {
      if (change.kind == ChangeKind::kJobEnded) ended_.emplace_back(change.id);
    }
  } else {
    ended_.clear();
    for (std::size_t j = 0; j < view.jobs.size(); ++j) {
      const bool is_new = j >= known || !guesses_[j].learned;
      if (is_new && view.states[j].ended()) ended_.emplace_back(j);
    }
  }
  seen_ = view.version;
  guesses_.resize(view.jobs.size());
  std::ranges::sort(ended_, {},
                    [&](JobId id) { return std::tuple(view.state(id).last_stop_us, id.value); });
  // An end waits for the next submission, at which it first matters.
  std::size_t next = 0;
  for (std::size_t j = known; j < view.jobs.size(); ++j) {
    const TimeUs submit_us = view.jobs[j].submit_us;
    for (; next < ended_.size() && view.state(ended_[next]).last_stop_us < submit_us; ++next) {
      learn(view, ended_[next]);
    }
    predict(view.jobs[j], guesses_[j]);
  }
  ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(next));
}

std::optional<TimeUs> RunTimeHistory::run_time_us(JobId job) const {
  if (job.index() >= guesses_.size() || !guesses_[job.index()].run_time_us.known()) {
    return std::nullopt;
  }
  return guesses_[job.index()].run_time_us.value();
}

}  // namespace berth
