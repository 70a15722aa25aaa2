#include "why.h"

#include <gtest/gtest.h>

#include "support/workloads.h"

namespace berth::cli {
namespace {

Workload named(const std::vector<std::string_view>& names) {
  Workload workload = testing::workload_of(std::vector<testing::SimpleJob>(names.size()));
  workload.names = names;
  return workload;
}

TEST(ReadWhy, ANameOfSeveralJobsIsNoAnswer) {
  const auto question = read_why("twin", named({"a", "twin", "twin"}));
  ASSERT_FALSE(question);
  EXPECT_EQ(question.error().exit_code(), 2);
  EXPECT_NE(question.error().text().find("2 jobs have this name"), std::string::npos);
  EXPECT_NE(question.error().text().find("one of 1, 2"), std::string::npos);
}

TEST(ReadWhy, ANameGoesBeforeAnIndexAndMayHaveAnAt) {
  const Workload workload = named({"1", "b@5", "c"});
  const auto job = [&](const char* text) { return read_why(text, workload).value().job.value; };
  EXPECT_EQ(job("1"), 0U);
  EXPECT_EQ(job("2"), 2U);
  EXPECT_EQ(job("b@5"), 1U);
  EXPECT_EQ(job("b@5@3h"), 1U);
  EXPECT_EQ(read_why("b@5@3h", workload)->at_us, 3 * kUsPerHour);
  EXPECT_FALSE(read_why("c", workload)->at_us);
  for (const char* const wrong : {"", "@", "c@", "c@x", "3", "b", "c@-1"}) {
    EXPECT_FALSE(read_why(wrong, workload)) << wrong;
  }
}

}  // namespace
}  // namespace berth::cli
