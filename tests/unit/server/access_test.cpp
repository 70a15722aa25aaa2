#include "server/access.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Secret, OnlyTheWholeOneIsRight) {
  EXPECT_TRUE(same_secret("secret", "secret"));
  for (const char* wrong : {"", "s", "secre", "secretsecret", "secrets", "Secret", "secreu"}) {
    EXPECT_FALSE(same_secret(wrong, "secret")) << wrong;
  }
  EXPECT_FALSE(same_secret("", ""));
  EXPECT_FALSE(same_secret("x", ""));
}

TEST(Bearer, IsFoundInAnyCase) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bEARER  abc "), "abc");
  EXPECT_EQ(bearer_token("Basic abc"), std::nullopt);
  EXPECT_EQ(bearer_token("Bearer"), std::nullopt);
  EXPECT_EQ(bearer_token(""), std::nullopt);
}

TEST(Host, OnlyThisMachine) {
  for (const char* own : {"localhost", "localhost:80", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080",
                          "[::1]", "[::1]:80", "10.0.0.7:80"}) {
    EXPECT_TRUE(is_own_host(own, "10.0.0.7")) << own;
  }
  for (const char* other :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80:90",
        "localhost:x", "[::1", "[::1]x", "10.0.0.8", "localhost:123456", "user@localhost"}) {
    EXPECT_FALSE(is_own_host(other, "10.0.0.7")) << other;
  }
}

TEST(Host, AnyAddressWhenBoundToAll) {
  EXPECT_TRUE(is_own_host("192.168.1.5:80", "0.0.0.0"));
  EXPECT_TRUE(is_own_host("[fd00::1]:80", "::"));
  EXPECT_FALSE(is_own_host("evil.example:80", "0.0.0.0"));
}

TEST(Origin, IsThatOfTheHost) {
  EXPECT_TRUE(is_own_origin("http://localhost:80", "localhost:80"));
  for (const char* other :
       {"null", "", "http://evil.example", "https://localhost:80", "http://localhost:81"}) {
    EXPECT_FALSE(is_own_origin(other, "localhost:80")) << other;
  }
  EXPECT_FALSE(is_own_origin("http://", ""));
}

}  // namespace
}  // namespace berth
