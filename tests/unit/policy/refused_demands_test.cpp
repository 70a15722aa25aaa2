#include "policy/common/refused_demands.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

Job job_of(std::uint32_t tasks, std::uint32_t milli, GpuTypeMask types = kAnyGpuType) {
  Job job;
  job.tasks = tasks;
  job.gpu_milli_per_task = milli;
  job.gpu_types = types;
  return job;
}

TEST(RefusedDemands, WhateverAsksForAsMuchIsRefused) {
  RefusedDemands refused;
  refused.add(job_of(4, 500, 3));
  EXPECT_TRUE(refused.contains(job_of(4, 500, 3)));
  EXPECT_TRUE(refused.contains(job_of(5, 600, 3)));
  EXPECT_TRUE(refused.contains(job_of(4, 500, 1)));   // fewer types
  EXPECT_FALSE(refused.contains(job_of(4, 500, 7)));  // one more
  EXPECT_FALSE(refused.contains(job_of(3, 500, 3)));
  EXPECT_FALSE(refused.contains(job_of(8, 400, 3)));
  refused.add(job_of(2, 400, 3));
  EXPECT_TRUE(refused.contains(job_of(2, 400, 3)));
  EXPECT_TRUE(refused.contains(job_of(4, 500, 3)));
  EXPECT_FALSE(refused.contains(job_of(1, 1000, 3)));
}

// The parameter server takes no GPU, and whole GPUs are given out whatever cores are left.
TEST(RefusedDemands, CoresAndMemoryCountForShares) {
  RefusedDemands refused;
  Job job = job_of(2, 500);
  job.cpu_milli_per_task = 4000;
  refused.add(job);
  job.cpu_milli_per_task = 3000;
  EXPECT_FALSE(refused.contains(job));
  job.memory_mib_per_task = 10;
  job.cpu_milli_per_task = 5000;
  EXPECT_TRUE(refused.contains(job));
  Job whole = job_of(3, 1000);
  whole.parameter_servers = 1;
  whole.cpu_milli_per_task = 4000;
  refused.add(whole);
  EXPECT_TRUE(refused.contains(job_of(2, 1000)));
}

TEST(RefusedDemands, CoresCountForWholeGpusTooIfAsked) {
  RefusedDemands refused(RefusedDemands::Host::kEverybody);
  Job whole = job_of(3, 1000);
  whole.cpu_milli_per_task = 4000;
  refused.add(whole);
  EXPECT_TRUE(refused.contains(whole));
  EXPECT_FALSE(refused.contains(job_of(3, 1000)));
}

TEST(RefusedDemands, CoresAndMemoryCountForNobodyIfAsked) {
  RefusedDemands refused(RefusedDemands::Host::kNobody);
  Job job = job_of(2, 500);
  job.cpu_milli_per_task = 4000;
  job.memory_mib_per_task = 10;
  refused.add(job);
  EXPECT_TRUE(refused.contains(job_of(2, 500)));
  EXPECT_FALSE(refused.contains(job_of(1, 500)));
}

}  // namespace
}  // namespace berth
