// Schedules of SLAQ worked out by hand.
#include "policy/slaq/slaq.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/elastic.h"

namespace berth {
namespace {

using testing::ElasticJobs;

std::unique_ptr<Policy> quick_slaq() {
  const PolicyOption options[] = {{"interval_s", "100"}, {"least_run_s", "0"}, {"patience_h", "0"}};
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

// One GPU, two jobs with losses 1 / (1 + i / h), h = 10 and 20. The first drop, the largest, is
// 1/11 and 1/21; from iteration i the next 100 iterations bring h / (h + i) - h / (h + i + 100),
// over that drop:
//                 i = 0    100     200     300
//   job 0        (100)   0.476   0.169
//   job 1        (100)   1.591   0.597   0.312
// Job 1 comes at 50 s, has shown nothing, and takes over at 100 s. At 200 and 300 s it is still
// worth more than job 0 (1.591 and 0.597 against 0.476), at 400 s no longer; at 500 s it is again
// (0.312 against 0.169).
TEST(Slaq, TheLargestPredictedDropGoesFirst) {
  ElasticJobs jobs;
  jobs.add(0, 1, 1000);
  jobs.add(50, 1, 1000);
  jobs.curve(0) = {.first_loss = 1, .final_loss = 0, .half_iterations = 10, .exponent = 1};
  jobs.curve(1) = {.first_loss = 1, .final_loss = 0, .half_iterations = 20, .exponent = 1};
  const auto run = testing::run_elastic(testing::servers_of({1}, 0), jobs.workload(), quick_slaq);
  const std::string log = lines_of(run.log, {"start", "preempt"});
  EXPECT_EQ(log.substr(0, log.find("500000000,")),
            "0,start,0,0\n"
            "100000000,preempt,0,\n"
            "100000000,start,1,0\n"
            "400000000,preempt,1,\n"
            "400000000,start,0,0\n");
  EXPECT_NE(log.find("500000000,start,1,0\n"), std::string::npos) << log;
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
