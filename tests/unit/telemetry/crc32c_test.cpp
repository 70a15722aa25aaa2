#include "telemetry/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::telemetry {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, PublishedValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

}  // namespace
}  // namespace berth::telemetry
