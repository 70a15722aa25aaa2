#include "server/target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

// "a|b?k=v&l=w", or "-" for what is refused.
std::string parsed(std::string_view target) {
  const auto found = parse_target(target);
  if (!found) return "-";
  std::string text = fmt::format("{}", fmt::join(found->path, "|"));
  for (const auto& [name, value] : found->query) text += fmt::format("[{}={}]", name, value);
  return text;
}

TEST(Target, IsTakenApart) {
  EXPECT_EQ(parsed("/"), "");
  EXPECT_EQ(parsed("/v1/jobs/7"), "v1|jobs|7");
  EXPECT_EQ(parsed("/v1/jobs/"), "v1|jobs");
  EXPECT_EQ(parsed("/v1/jobs?limit=3&user=ann"), "v1|jobs[limit=3][user=ann]");
  EXPECT_EQ(parsed("/?a&b=&=c&&d=e=f"), "[a=][b=][=c][d=e=f]");
  EXPECT_EQ(parsed("/a%20b/%C3%A4?q=a%2Bb+c%2f..%00"), "-");
  EXPECT_EQ(parsed("/a%20b/%C3%A4?q=a%2Bb+c%2f.."), "a b|\xC3\xA4[q=a+b c/..]");
  EXPECT_EQ(parsed("/a+b"), "a+b");
  EXPECT_EQ(parsed("/..."), "...");
  EXPECT_EQ(parsed("/?"), "");
}

TEST(Target, RefusesWhatCouldBeReadTwoWays) {
  for (const char* target : {"",
                             "*",
                             "jobs",
                             "http://host/",
                             "/../etc/passwd",
                             "/v1/../x",
                             "/v1/..",
                             "/v1/.",
                             "/./x",
                             "/%2e%2e/x",
                             "/%2E./x",
                             "/a/%2e",
                             "//",
                             "/a//b",
                             "//a",
                             "/a%2fb",
                             "/a%5cb",
                             "/a\\b",
                             "/%00",
                             "/a%0ab",
                             "/a%7f",
                             "/%",
                             "/%4",
                             "/%zz",
                             "/%-1",
                             "/a?b=%",
                             "/a?b=%0g",
                             "/a#b",
                             "/\xC3\xA4",
                             "/%C3",
                             "/%C0%AE%C0%AE/",
                             "/a b",
                             "/a?b=%00",
                             "/a?b=%ff",
                             "/a\tb",
                             "/<x>"}) {
    EXPECT_EQ(parsed(target), "-") << target;
  }
}

TEST(Target, IsBounded) {
  const std::string longest = "/" + std::string(kMostTargetBytes - 1, 'a');
  EXPECT_NE(parsed(longest), "-");
  EXPECT_EQ(parsed(longest + "a"), "-");
  std::string query = "/?";
  for (std::size_t i = 0; i < kMostParameters; ++i) query += "a=1&";
  EXPECT_NE(parsed(query), "-");
  EXPECT_EQ(parsed(query + "a=1"), "-");
}

}  // namespace
}  // namespace berth
