// The generator against the real trace that its quantiles were computed from.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "trace/generate.h"
#include "trace/reader.h"
#include "unit/trace/data_dir.h"

namespace berth::trace {
namespace {

struct Samples {
  std::vector<double> gaps;
  std::vector<double> gpus;
  std::vector<double> durations;
};

Samples samples_of(const Trace& trace) {
  Samples out;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const TraceJob& job = trace.jobs[i];
    if (i > 0) out.gaps.push_back(seconds(job.arrival_us - trace.jobs[i - 1].arrival_us));
    out.gpus.push_back(static_cast<double>(job.gpu_milli.value()) / 1000);
    out.durations.push_back(seconds(job.duration_us.value()));
  }
  for (auto* sample : {&out.gaps, &out.gpus, &out.durations}) std::ranges::sort(*sample);
  return out;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

TEST(GeneratePhillyLike, IsWithinATenthOfTheRealTrace) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/philly_rfold/philly_trace.csv.xz");
  const auto philly = read_trace(path, {});
  ASSERT_TRUE(philly) << philly.error().text();
  const Samples real = samples_of(philly->trace);
  for (const std::uint64_t seed : {101, 102, 103, 104, 105}) {
    const auto generated = generate_philly_like({.jobs = philly->trace.jobs.size()}, Rng(seed));
    ASSERT_TRUE(generated);
    const Samples made = samples_of(*generated);
    for (const double share : {0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99}) {
      const auto near = [&](const std::vector<double>& a, const std::vector<double>& b,
                            const char* what) {
        const double wanted = quantile(b, share);
        EXPECT_NEAR(quantile(a, share), wanted, wanted / 10)
            << what << " at " << share << ", seed " << seed;
      };
      near(made.gaps, real.gaps, "gaps");
      near(made.gpus, real.gpus, "GPUs");
      near(made.durations, real.durations, "durations");
    }
  }
}

}  // namespace
}  // namespace berth::trace
