// Schedules of SLAQ worked out by hand.
#include "policy/slaq/slaq.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/elastic.h"

namespace berth {
namespace {

using testing::ElasticJobs;

std::unique_ptr<Policy> quick_slaq() {
  const PolicyOption options[] = {{"interval_s", "100"}, {"least_run_s", "0"}, {"hold", "0"}};
  auto policy = make_slaq(options);
  EXPECT_TRUE(policy) << policy.error().text();
  return *std::move(policy);
}

std::string lines_of(const std::string& log, const std::vector<std::string>& kinds) {
  std::string out;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& kind : kinds) {
      if (line.find("," + kind + ",") != std::string::npos) out += line + "\n";
    }
  }
  return out;
}

// One GPU, two jobs of 1000 iterations with losses 1 / (1 + i / h), h = 10 and 20, which converge
// to 0. From iteration i the next 100 bring h / (h + i) - h / (h + i + 100), and 100 / 1000 while
// nothing is known:
//               i = 0    100     200     300
//   job 0        (0.1)  0.0433  0.0154
//   job 1        (0.1)  0.0758  0.0284  0.0149
// Job 1 comes at 50 s and takes over at 100 s, as 0.1 is more than 0.0433. At 200 s it still goes
// first, at 300 s no longer (0.0284), at 400 s again (0.0284 against 0.0154).
TEST(Slaq, TheLargestPredictedDropGoesFirst) {
  ElasticJobs jobs;
  jobs.add(0, 1, 1000);
  jobs.add(50, 1, 1000);
  jobs.curve(0) = {.first_loss = 1, .final_loss = 0, .half_iterations = 10, .exponent = 1};
  jobs.curve(1) = {.first_loss = 1, .final_loss = 0, .half_iterations = 20, .exponent = 1};
  const auto run = testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), quick_slaq);
  const std::string log = lines_of(run.log, {"start", "preempt"});
  EXPECT_EQ(log.substr(0, log.find("400000000,")),
            "0,start,0,0\n"
            "100000000,preempt,0,\n"
            "100000000,start,1,0\n"
            "300000000,preempt,1,\n"
            "300000000,start,0,0\n");
  EXPECT_NE(log.find("400000000,start,1,0\n"), std::string::npos) << log;
}

// Two jobs of up to three replicas on four GPUs: each has one first, however little it gains. Both
// have done 100 iterations or more when the first multiple comes, and the second has levelled off:
// the other two GPUs are the first job's.
TEST(Slaq, EachJobHasOneReplicaFirst) {
  ElasticJobs jobs;
  jobs.add(0, 3, 3000);
  jobs.add(0, 3, 3000);
  jobs.curve(0) = {.first_loss = 1, .final_loss = 0, .half_iterations = 1000, .exponent = 1};
  jobs.curve(1) = {.first_loss = 1, .final_loss = 0, .half_iterations = 1, .exponent = 1};
  const auto run = testing::run_elastic(testing::servers_of({4}, 0), jobs.workload(), quick_slaq);
  // In the beginning nothing is known: the first three GPUs are the first job's, by order.
  EXPECT_EQ(run.result.preemptions, 0U);
  // 3 a second for the first, 1 for the second until then.
  EXPECT_EQ(run.result.states[0].last_stop_us, 1000 * kUsPerS);
  // 1000 done; 2000 left at 3 a second.
  EXPECT_EQ(run.result.states[1].last_stop_us, 1'666'666'667);
}

}  // namespace
}  // namespace berth
