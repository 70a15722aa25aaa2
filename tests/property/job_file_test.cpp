// Random jobs written as JSON read back equal, as JSON and as YAML (of which JSON is a part).
#include "jobspec/job_file.h"

#include <gtest/gtest.h>

#include "support/job_specs.h"

namespace berth {
namespace {

TEST(JobFile, WhatIsWrittenIsReadBackEqual) {
  Rng rng(20240307);
  for (int i = 0; i < 2000; ++i) {
    const JobSpec job = test::random_job_spec(rng);
    ASSERT_TRUE(check_job(job)) << check_job(job).error().text();
    const std::string text = job_json(job);
    const auto again = read_job_json(text);
    ASSERT_TRUE(again) << again.error().text() << "\n" << text;
    ASSERT_EQ(*again == job, true) << text << "\n" << job_json(*again);
    ASSERT_EQ(job_json(*again), text);
  }
}

// Any one byte of a job's JSON replaced: a job that is right, or an error of wrong input.
TEST(JobFile, DamagedTextIsRefusedOrRight) {
  Rng rng(77);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = job_json(test::random_job_spec(rng));
    text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const auto json = read_job_json(text);
    if (json) {
      ASSERT_TRUE(check_job(*json)) << text;
      ASSERT_EQ(*read_job_json(job_json(*json)) == *json, true) << text;
    } else {
      ASSERT_EQ(json.error().exit_code(), 2) << text;
    }
  }
}

}  // namespace
}  // namespace berth
