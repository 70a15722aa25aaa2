// Waiting times of FIFO against queueing theory, within the 99 % interval of batch means.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "support/workloads.h"

namespace berth {
namespace {

enum class Service : std::uint8_t { kExponential, kConstant };

// Poisson arrivals, one GPU a job, mean service 1 s.
Workload open_queue(double arrivals_per_s, Service service, std::size_t jobs, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<testing::SimpleJob> out;
  double now_s = 0;
  for (std::size_t j = 0; j < jobs; ++j) {
    now_s += rng.exponential(arrivals_per_s);
    out.push_back({now_s, service == Service::kConstant ? 1.0 : rng.exponential(1.0)});
  }
  return testing::workload_of(out);
}

// Waits are correlated; means of long batches hardly are.
void expect_mean_wait(const std::string& cluster, const Workload& workload, double theory_s) {
  const auto run = [&] {
    const auto info = find_policy("fifo");
    auto policy = (*info)->make({});
    const auto predictors = make_predictors("none", workload, 1);
    return simulate(testing::cluster_of(cluster), workload, **policy, **predictors, {});
  }();
  ASSERT_TRUE(run);
  constexpr std::size_t kBatches = 40;
  const std::size_t skip = workload.jobs.size() / 20;  // until the queue has forgotten its start
  const std::size_t batch = (workload.jobs.size() - skip) / kBatches;
  std::vector<double> means;
  for (std::size_t b = 0; b < kBatches; ++b) {
    double sum_s = 0;
    for (std::size_t j = skip + b * batch; j < skip + (b + 1) * batch; ++j) {
      sum_s += seconds(run->states[j].first_start_us - workload.jobs[j].submit_us);
    }
    means.push_back(sum_s / static_cast<double>(batch));
  }
  const MeanInterval interval = mean_interval(means);
  // The 99 % quantile of t with 39 degrees of freedom over the 97.5 % one.
  const double half_99 = (interval.high - interval.mean) * 2.7079 / student_t_975(kBatches - 1);
  EXPECT_NEAR(interval.mean, theory_s, half_99) << cluster;
  EXPECT_LT(half_99, theory_s * 0.2) << "too few jobs for the interval to mean anything";
}

// Erlang's C: the probability that an arrival waits.
double erlang_c(int servers, double offered) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < servers; ++k) {
    term *= offered / k;
    sum += term;
  }
  const double last = term * offered / servers * (servers / (servers - offered));
  return last / (sum + last);
}

TEST(QueueingTheory, MM1) {
  for (const double rho : {0.5, 0.8}) {
    expect_mean_wait("1x1", open_queue(rho, Service::kExponential, 200'000, 11), rho / (1 - rho));
  }
}

TEST(QueueingTheory, MD1) {
  for (const double rho : {0.5, 0.8}) {
    expect_mean_wait("1x1", open_queue(rho, Service::kConstant, 200'000, 12),
                     rho / (2 * (1 - rho)));
  }
}

TEST(QueueingTheory, MMc) {
  for (const int servers : {2, 5, 16}) {
    const double offered = 0.85 * servers;
    expect_mean_wait(std::to_string(servers) + "x1",
                     open_queue(offered, Service::kExponential, 200'000, 13),
                     erlang_c(servers, offered) / (servers - offered));
  }
}

// Preemptive SRTF minimises mean JCT on one machine (Schrage 1968): no schedule of a small case,
// tried in all ways at unit steps, is better, and one found by hand is equal.
double best_total_jct_s(std::vector<int> release_s, std::vector<int> left_s, int now_s) {
  bool any = false;
  int next_release = 1 << 30;
  double best = 1e18;
  for (std::size_t j = 0; j < left_s.size(); ++j) {
    if (left_s[j] == 0) continue;
    any = true;
    if (release_s[j] > now_s) {
      next_release = std::min(next_release, release_s[j]);
      continue;
    }
    auto after = left_s;
    --after[j];
    const double ended = after[j] == 0 ? now_s + 1 - release_s[j] : 0;
    best = std::min(best, ended + best_total_jct_s(release_s, after, now_s + 1));
  }
  if (!any) return 0;
  if (best == 1e18) return best_total_jct_s(release_s, left_s, next_release);
  return best;
}

TEST(Srtf, IsOptimalOnOneGpu) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    std::vector<testing::SimpleJob> jobs;
    std::vector<int> release_s;
    std::vector<int> run_s;
    int now_s = 0;
    for (int j = 0; j < 4; ++j) {
      now_s += static_cast<int>(rng.below(3));
      release_s.push_back(now_s);
      run_s.push_back(static_cast<int>(1 + rng.below(4)));
      jobs.push_back({static_cast<double>(now_s), static_cast<double>(run_s.back())});
    }
    const Workload workload = testing::workload_of(jobs);
    const auto run = testing::run_policy(testing::cluster_of("1x1"), workload, "srtf");
    double total_s = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      total_s += seconds(run.result.states[j].last_stop_us - workload.jobs[j].submit_us);
    }
    EXPECT_DOUBLE_EQ(total_s, best_total_jct_s(release_s, run_s, 0)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth
