// Requests from bytes, whole and one by one, and what is refused.
#include "server/request_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using State = RequestReader::State;

struct Reading {
  explicit Reading(HttpLimits with = {}) : limits(with), reader(limits, budget) {
    budget.limit = limits.buffered_bytes;
  }
  HttpLimits limits;
  BodyBudget budget;
  RequestReader reader;
  std::string input;
  std::string heard;  // what it made of the bytes so far

  bool feed(std::string_view bytes) {
    input += bytes;
    for (;;) {
      const State state = reader.read(input);
      if (state == State::kRefused) {
        heard += std::to_string(reader.refusal().status);
        return false;
      }
      if (reader.take_continue()) heard += "(continue)";
      if (state != State::kComplete) return true;
      const RawRequest request = reader.take();
      heard += fmt::format("{} {} {} {};", request.method, request.target, request.body,
                           request.keep_alive ? "on" : "off");
    }
  }
};

std::string read_whole(std::string_view bytes, HttpLimits limits = {}) {
  Reading reading(limits);
  reading.feed(bytes);
  return reading.heard;
}

std::string read_bytes(std::string_view bytes, HttpLimits limits = {}) {
  Reading reading(limits);
  for (const char c : bytes) {
    if (!reading.feed({&c, 1})) break;
  }
  return reading.heard;
}

// The same, however it is cut.
std::string read_both(std::string_view bytes, HttpLimits limits = {}) {
  std::string whole = read_whole(bytes, limits);
  EXPECT_EQ(read_bytes(bytes, limits), whole);
  return whole;
}

constexpr std::string_view kHost = "Host: localhost\r\n";

std::string with(std::string_view line, std::string_view fields, std::string_view body = {}) {
  return fmt::format("{} HTTP/1.1\r\n{}{}\r\n{}", line, kHost, fields, body);
}

TEST(RequestReader, ReadsRequests) {
  EXPECT_EQ(read_both(with("GET /a", "")), "GET /a  on;");
  EXPECT_EQ(read_both(with("POST /a", "Content-Length: 3\r\n", "xyz")), "POST /a xyz on;");
  EXPECT_EQ(read_both(with("GET /a", "Connection: close\r\n")), "GET /a  off;");
  EXPECT_EQ(read_both(with("GET /a", "Content-Encoding: identity\r\n")), "GET /a  on;");
  EXPECT_EQ(read_both("GET /a HTTP/1.0\r\n\r\n"), "GET /a  off;");
  EXPECT_EQ(read_both("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), "GET /a  off;");
  EXPECT_EQ(read_both("\r\n" + with("GET /a", "")), "GET /a  on;");
}

TEST(RequestReader, ReadsChunks) {
  const std::string_view chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(read_both(with("POST /a", chunked, "3\r\nxyz\r\n0\r\n\r\n")), "POST /a xyz on;");
  EXPECT_EQ(read_both(with("POST /a", chunked, "1\r\nx\r\n002\r\nyz\r\n0\r\nTrailer: t\r\n\r\n")),
            "POST /a xyz on;");
  EXPECT_EQ(read_both(with("POST /a", chunked, "0\r\nHost: evil\r\nOrigin: x\r\n\r\n")),
            "POST /a  on;");
}

TEST(RequestReader, ReadsOneAfterTheOther) {
  const std::string two = with("POST /a", "Content-Length: 2\r\n", "xy") + with("GET /b", "");
  EXPECT_EQ(read_both(two + two), "POST /a xy on;GET /b  on;POST /a xy on;GET /b  on;");
}

TEST(RequestReader, SaysContinueWhenSomebodyWaits) {
  Reading reading;
  EXPECT_TRUE(reading.feed(with("POST /a", "Expect: 100-continue\r\nContent-Length: 2\r\n")));
  EXPECT_EQ(reading.heard, "(continue)");
  reading.feed("xy");
  EXPECT_EQ(reading.heard, "(continue)POST /a xy on;");
  // Nobody waits who has sent the body, or who is refused anyhow.
  EXPECT_EQ(read_whole(with("POST /a", "Expect: 100-continue\r\nContent-Length: 2\r\n", "xy")),
            "POST /a xy on;");
  EXPECT_EQ(read_whole(with("POST /a", "Expect: 100-continue\r\nContent-Length: 99999999\r\n")),
            "413");
  EXPECT_EQ(read_whole(with("POST /a", "Expect: tea\r\n")), "417");
}

TEST(RequestReader, RefusesWhatIsReadInTwoWays) {
  const std::string_view chunks = "0\r\n\r\n";
  for (const std::string_view fields :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: 3, 4\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +3\r\n",
        "Content-Length: 0x3\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length:\r\n",
        "Content-Length: 3 3\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: a\r\n b\r\n",
        "X: a\r\n\tb\r\n",
        "X : a\r\n",
        " X: a\r\n",
        "X\r\n",
        ": a\r\n",
        "X: a\nY: b\r\n",
        "X: a\rY: b\r\n",
        "Host: other\r\n",
        "Origin: a\r\nOrigin: b\r\n",
        "Content-Type: a\r\nContent-Type: b\r\n",
        "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"}) {
    EXPECT_EQ(read_both(with("POST /a", fields, chunks)), "400") << fields;
  }
  EXPECT_EQ(read_both(with("POST /a", std::string_view("X: a\0b\r\n", 8))), "400");
  EXPECT_EQ(read_both("GET /a HTTP/1.1\r\n\r\n"), "400");  // no Host
  EXPECT_EQ(read_both("GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), "400");
}

TEST(RequestReader, RefusesBadChunks) {
  const std::string many(20'000, 'e');
  for (const std::string& body :
       {std::string("x"), std::string("-1\r\n"), std::string("3\r\nxyzw\r\n"),
        std::string("3\nxyz"), std::string("\r\n\r\n"), std::string("3 \r\n"),
        std::string("3\r\nxyz\n"), std::string("1;n=v\r\nx"), std::string("1;n=\"\r\nx\"\r\n"),
        std::string("00000000000000001\r\n"), std::string("0\r\nX: a\r\n" + many),
        std::string("0\r\nX: " + many + "\r\n\r\n")}) {
    EXPECT_EQ(read_both(with("POST /a", "Transfer-Encoding: chunked\r\n", body)), "400")
        << body.substr(0, 30);
  }
  EXPECT_EQ(read_both(with("POST /a", "Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFF\r\n")),
            "413");
}

TEST(RequestReader, RefusesWhatIsNoRequest) {
  EXPECT_EQ(read_both(std::string_view("\x16\x03\x01\x02\x00\x01", 6)), "400");  // TLS
  EXPECT_EQ(read_both(" GET / HTTP/1.1\r\n"), "400");
  EXPECT_EQ(read_both("\r\n\r\n\r\n\r\n"), "400");
  EXPECT_EQ(read_both("GET /a\r\n\r\n"), "400");
  EXPECT_EQ(read_both("GET  /a HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(read_both("GET /a HTTP/2.0\r\n\r\n"), "505");
  EXPECT_EQ(read_both("GET /a HTTP/1.1\n\n"), "400");
  EXPECT_EQ(read_both(with("BREW /pot", "")), "501");
  EXPECT_EQ(read_both(with("TRACE /a", "")), "405");
  EXPECT_EQ(read_both(with("CONNECT a:80", "")), "405");
  EXPECT_EQ(read_both(with("POST /a", "Content-Encoding: gzip\r\n")), "415");
  EXPECT_EQ(read_both(with("POST /a", "Content-Encoding: identity, gzip\r\n")), "415");
}

TEST(RequestReader, EverythingIsBounded) {
  EXPECT_EQ(read_both(with("GET /" + std::string(9'000, 'a'), "")), "414");
  EXPECT_EQ(read_both("GET /" + std::string(40'000, 'a')), "414");
  std::string fields;
  for (int i = 0; i < 20'000; ++i) fields += "a:\r\n";
  EXPECT_EQ(read_both(with("GET /a", fields)), "431");
  HttpLimits wide;
  wide.header_bytes = 1 << 20;
  EXPECT_EQ(read_both(with("GET /a", fields), wide), "431");
  EXPECT_EQ(read_both(with("GET /a", "X: " + std::string(17'000, 'x') + "\r\n")), "431");
  EXPECT_EQ(read_both(with("GET /a", "X: " + std::string(40'000, 'x'))), "431");
  HttpLimits small;
  small.body_bytes = 10;
  EXPECT_EQ(read_both(with("POST /a", "Content-Length: 10\r\n", "0123456789"), small),
            "POST /a 0123456789 on;");
  EXPECT_EQ(read_both(with("POST /a", "Content-Length: 11\r\n"), small), "413");
  EXPECT_EQ(read_both(with("POST /a", "Transfer-Encoding: chunked\r\n",
                           "6\r\n012345\r\n5\r\n01234\r\n0\r\n\r\n"),
                      small),
            "413");
}

TEST(RequestReader, BodiesTogetherAreBounded) {
  HttpLimits limits;
  limits.buffered_bytes = 10;
  BodyBudget budget{.used = 0, .limit = 10};
  const std::string half = with("POST /a", "Content-Length: 9\r\n", "01234567");
  {
    RequestReader first(limits, budget);
    RequestReader second(limits, budget);
    std::string input = half;
    EXPECT_EQ(first.read(input), State::kBody);
    EXPECT_EQ(budget.used, 8U);
    input = half;
    EXPECT_EQ(second.read(input), State::kRefused);
    EXPECT_EQ(second.refusal().status, 503);
    input = "8";
    EXPECT_EQ(first.read(input), State::kComplete);
    EXPECT_EQ(first.take().body, "012345678");
    EXPECT_EQ(budget.used, 0U);
    input = half;
    EXPECT_EQ(first.read(input), State::kBody);
  }
  EXPECT_EQ(budget.used, 0U);
}

}  // namespace
}  // namespace berth
