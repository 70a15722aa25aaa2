#include "trace/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/philly_facts.h"

namespace berth::trace {
namespace {

constexpr double kPercents[] = {10, 25, 50, 75, 90, 95, 99};
// Of the 111,549 jobs of the trace itself, gaps and durations in seconds.
constexpr double kPhillyGaps[] = {1, 2, 8, 47, 221, 397, 600};
constexpr double kPhillyGpus[] = {1, 1, 1, 1, 4, 8, 16};
constexpr double kPhillyDurations[] = {56, 140, 1321, 5361, 33474, 123923, 755541};

// Linear between the neighbouring values, as numpy's default.
double percentile(const std::vector<double>& sorted, double percent) {
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

void expect_within_tenth(std::vector<double> values, std::span<const double> wanted,
                         const char* what) {
  std::ranges::sort(values);
  for (std::size_t i = 0; i < std::size(kPercents); ++i) {
    EXPECT_NEAR(percentile(values, kPercents[i]), wanted[i], wanted[i] / 10)
        << what << " p" << kPercents[i];
  }
}

Trace generated(const GenerateOptions& options, std::uint64_t seed) {
  auto trace = generate_philly_like(options, Rng(seed));
  EXPECT_TRUE(trace.has_value());
  return std::move(*trace);
}

void expect_philly(const Trace& trace) {
  std::vector<double> gaps;
  std::vector<double> gpus;
  std::vector<double> durations;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    if (i > 0) gaps.push_back(seconds(job.arrival_us - trace.jobs[i - 1].arrival_us));
    gpus.push_back(static_cast<double>(job.gpu_milli.value()) / 1000);
    durations.push_back(seconds(job.duration_us.value()));
  }
  expect_within_tenth(gaps, kPhillyGaps, "gap");
  expect_within_tenth(gpus, kPhillyGpus, "GPUs");
  expect_within_tenth(durations, kPhillyDurations, "duration");
}

TEST(GeneratePhillyLike, QuantilesAreWithinATenthOfPhillysForSeveralSeeds) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    SCOPED_TRACE(seed);
    expect_philly(generated({.jobs = 111'549}, seed));
  }
}

TEST(GeneratePhillyLike, QuantilesHoldForFewJobsToo) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    SCOPED_TRACE(seed);
    expect_philly(generated({.jobs = 10'000}, seed));
  }
}

TEST(GeneratePhillyLike, FollowsTheRhythmOfDayAndWeek) {
  const Trace trace = generated({.jobs = 300'000}, 5);
  std::array<double, 7> per_day{};
  std::array<double, 24> per_hour{};
  const TimeUs weeks = trace.jobs.back().arrival_us / (7 * kUsPerDay);
  double total = 0;
  for (const TraceJob& job : trace.jobs) {
    if (job.arrival_us >= weeks * 7 * kUsPerDay) break;
    per_day.at(static_cast<std::size_t>(job.arrival_us / kUsPerDay % 7)) += 1;
    per_hour.at(static_cast<std::size_t>(job.arrival_us / kUsPerHour % 24)) += 1;
    total += 1;
  }
  for (std::size_t day = 0; day < 7; ++day) {
    EXPECT_NEAR(per_day.at(day) / total * 7, philly::kDayRate.at(day), 0.3) << day;
  }
  double error = 0;
  for (std::size_t hour = 0; hour < 24; ++hour) {
    error += std::abs(per_hour.at(hour) / total * 24 - philly::kHourRate.at(hour)) / 24;
  }
  EXPECT_LT(error, 0.1);
  EXPECT_LT(per_day[5] + per_day[6], 0.7 * (per_day[1] + per_day[2]));
}

TEST(GeneratePhillyLike, SameSeedSameTraceAnotherSeedAnother) {
  const Trace a = generated({.jobs = 500}, 1);
  const Trace b = generated({.jobs = 500}, 1);
  const Trace c = generated({.jobs = 500}, 2);
  std::size_t same = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(a.jobs[i].arrival_us, b.jobs[i].arrival_us);
    EXPECT_EQ(a.jobs[i].duration_us, b.jobs[i].duration_us);
    EXPECT_EQ(a.jobs[i].gpu_milli, b.jobs[i].gpu_milli);
    EXPECT_EQ(a.jobs[i].vc, b.jobs[i].vc);
    same += a.jobs[i].duration_us == c.jobs[i].duration_us ? 1 : 0;
  }
  EXPECT_LT(same, 100U);
}

TEST(GeneratePhillyLike, RateGrowsWithLoadAndClusterAndNotWithJobs) {
  const auto mean_gap = [](const GenerateOptions& options) {
    return seconds(generated(options, 3).jobs.back().arrival_us) /
           static_cast<double>(options.jobs - 1);
  };
  const double one = mean_gap({.jobs = 50'000});
  EXPECT_NEAR(one, 66.8, 3);
  EXPECT_NEAR(mean_gap({.jobs = 200'000}), one, one / 20);
  EXPECT_NEAR(mean_gap({.jobs = 50'000, .load = 2}), one / 2, one / 40);
  EXPECT_NEAR(mean_gap({.jobs = 50'000, .gpus = 249}), one * 10, one / 2);
}

TEST(GeneratePhillyLike, ArrivalsNeverRunBackAndIdsAreDistinct) {
  const Trace trace = generated({.jobs = 2'000, .load = 3}, 9);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.jobs[i].id, std::to_string(i));
    EXPECT_GE(trace.jobs[i].duration_us.value(), kUsPerS);
    EXPECT_GE(trace.jobs[i].arrival_us, trace.jobs[i == 0 ? 0 : i - 1].arrival_us);
  }
}

TEST(GeneratePhillyLike, OneJobArrivesAtZero) {
  const Trace trace = generated({.jobs = 1}, 1);
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].arrival_us, 0);
}

TEST(GeneratePhillyLike, RefusesWhatIsOutOfRange) {
  EXPECT_FALSE(generate_philly_like({.jobs = 0}, Rng(1)));
  EXPECT_FALSE(generate_philly_like({.jobs = kMaxGeneratedJobs + 1}, Rng(1)));
  EXPECT_FALSE(generate_philly_like({.jobs = 1, .load = 0}, Rng(1)));
  EXPECT_FALSE(generate_philly_like({.jobs = 1, .load = std::nan("")}, Rng(1)));
  EXPECT_FALSE(generate_philly_like({.jobs = 1, .gpus = 0}, Rng(1)));
}

}  // namespace
}  // namespace berth::trace
