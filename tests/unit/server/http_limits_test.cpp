// What a client may not do, over real sockets. Time-outs are short, and only their effect is waited
// for.
#include <dirent.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/http.h"

namespace berth {
namespace {

using testing::ask;
using testing::RawClient;
using testing::status_of;
using testing::TestServer;

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string post(std::string_view fields, std::string_view body = {}) {
  return fmt::format("POST /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n{}", fields,
                     body);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

TEST(HttpLimitsTest, HostileBytesGetTheRightStatus) {
  TestServer server;
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "a: b\r\n";
  const std::string smuggled = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n";
  EXPECT_EQ(status_of(ask(server.unix_path(), post(many))), "431");
  EXPECT_EQ(status_of(ask(server.unix_path(), post(smuggled, "0\r\n\r\n"))), "400");
  EXPECT_EQ(status_of(ask(server.unix_path(), post("X: a\r\n b\r\n"))), "400");
  EXPECT_EQ(status_of(ask(server.unix_path(), post("Content-Encoding: gzip\r\n"))), "415");
  EXPECT_EQ(status_of(ask(server.unix_path(), "BREW / HTTP/1.1\r\n\r\n")), "501");
  EXPECT_EQ(status_of(ask(server.unix_path(), "\x16\x03\x01\x02")), "400");
}

TEST(HttpLimitsTest, BodiesOverTheLimitAreRefusedWhileTheyAreSent) {
  TestServer server([](HttpOptions& options) { options.limits.body_bytes = 1000; });
  const std::string megabytes(4 << 20, 'x');
  EXPECT_EQ(
      status_of(ask(server.unix_path(),
                    post(fmt::format("Content-Length: {}\r\n", megabytes.size()), megabytes))),
      "413");
  const std::string chunk = fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", megabytes.size(), megabytes);
  EXPECT_EQ(status_of(ask(server.unix_path(), post("Transfer-Encoding: chunked\r\n", chunk))),
            "413");
  RawClient tcp(server.port());
  tcp.send(post(fmt::format("Content-Length: {}\r\n", megabytes.size()), megabytes));
  EXPECT_EQ(status_of(tcp.receive_all()), "413");
}

TEST(HttpLimitsTest, SlowSendersAreStopped) {
  TestServer server([](HttpOptions& options) { options.limits.request_timeout_us = 50'000; });
  RawClient head(server.unix_path());
  head.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(status_of(head.receive_all()), "408");
  RawClient body(server.unix_path());
  body.send(post("Content-Length: 10\r\n", "x"));
  EXPECT_EQ(status_of(body.receive_all()), "408");
  // Drop by drop is no better.
  RawClient drops(server.unix_path());
  drops.send(post("Content-Length: 8000000\r\n"));
  while (drops.send("x")) {
  }
  EXPECT_EQ(status_of(drops.receive_all()), "408");
}

TEST(HttpLimitsTest, IdleConnectionsAreClosed) {
  TestServer server([](HttpOptions& options) { options.limits.idle_timeout_us = 50'000; });
  RawClient silent(server.unix_path());
  EXPECT_EQ(silent.receive_all(), "");
  RawClient once(server.unix_path());
  once.send(kGet);
  const std::string reply = once.receive_all();
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_FALSE(has(reply, "408"));
}

TEST(HttpLimitsTest, ClientsThatDoNotReadAreLeft) {
  TestServer server([](HttpOptions& options) { options.limits.write_timeout_us = 50'000; });
  RawClient client(server.unix_path());
  client.send("GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
  RawClient stream(server.unix_path());
  stream.send("GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // Others are served meanwhile; when a sending client is cut off, it is told by an error.
  while (client.send(kGet)) {
  }
  while (stream.send(kGet)) {
  }
  EXPECT_LT(client.receive_all().size(), 8U << 20U);
  EXPECT_NE(stream.receive_all(), "TIMEOUT");
  EXPECT_TRUE(http_request(server.unix_endpoint(), "GET", "/a"));
}

TEST(HttpLimitsTest, OneConnectionTooMany) {
  TestServer server([](HttpOptions& options) { options.limits.connections = 2; });
  {
    RawClient first(server.unix_path());
    RawClient second(server.port());
    first.send(kGet);
    second.send(kGet);
    EXPECT_TRUE(has(first.receive_until("admin=true"), "200 OK"));
    EXPECT_TRUE(has(second.receive_until("nobody"), "200 OK"));
    EXPECT_EQ(status_of(RawClient(server.unix_path()).receive_all()), "503");
    EXPECT_EQ(status_of(RawClient(server.port()).receive_all()), "503");
  }
  // Room returns with the first that is seen to have gone.
  for (;;) {
    const auto reply = http_request(server.unix_endpoint(), "GET", "/a");
    if (reply && reply->status == 200) break;
  }
}

TEST(HttpLimitsTest, OneUserLeavesRoomForOthers) {
  TestServer server([](HttpOptions& options) { options.limits.connections_per_uid = 1; });
  RawClient mine(server.unix_path());
  mine.send(kGet);
  mine.receive_until("admin=true");
  EXPECT_EQ(status_of(RawClient(server.unix_path()).receive_all()), "503");
  EXPECT_EQ(http_request(server.tcp_endpoint(), "GET", "/a").value().status, 200);
}

TEST(HttpLimitsTest, StreamsAreCounted) {
  TestServer server([](HttpOptions& options) { options.limits.streams = 1; });
  {
    RawClient first(server.unix_path());
    first.send("GET /ticker HTTP/1.1\r\nHost: localhost\r\n\r\n");
    first.receive_until("tick\n");
    EXPECT_EQ(http_request(server.unix_endpoint(), "GET", "/countdown").value().status, 503);
  }
  for (;;) {
    if (http_request(server.unix_endpoint(), "GET", "/countdown").value().status == 200) break;
  }
  EXPECT_EQ(http_request(server.unix_endpoint(), "GET", "/countdown").value().status, 200);
}

TEST(HttpLimitsTest, OneUsersStreamsLeaveRoomForOthers) {
  TestServer server([](HttpOptions& options) { options.limits.streams_per_uid = 1; });
  RawClient mine(server.unix_path());
  mine.send("GET /ticker HTTP/1.1\r\nHost: localhost\r\n\r\n");
  mine.receive_until("tick\n");
  EXPECT_EQ(http_request(server.unix_endpoint(), "GET", "/countdown").value().status, 503);
  EXPECT_EQ(http_request(server.tcp_endpoint("secret"), "GET", "/countdown").value().status, 200);
}

// Who has no token fills no budget: the answer comes before a byte of the body is sent.
TEST(HttpLimitsTest, WithoutATokenNoBodyIsRead) {
  TestServer server;
  for (const std::string_view fields :
       {"Content-Length: 90000\r\n", "Transfer-Encoding: chunked\r\n",
        "Content-Length: 90000\r\nExpect: 100-continue\r\n",
        "Content-Length: 90000\r\nAuthorization: Bearer wrong\r\n"}) {
    RawClient client(server.port());
    client.send(post(fields));
    const std::string answer = client.receive_until("\r\n\r\n");
    EXPECT_EQ(status_of(answer), "401") << fields;
    EXPECT_TRUE(has(answer, "WWW-Authenticate")) << fields;
  }
  RawClient client(server.port());
  client.send(post("Content-Length: 2\r\nAuthorization: Bearer secret\r\n", "xy"));
  EXPECT_TRUE(has(client.receive_until("body=2"), "200"));
}

TEST(HttpLimitsTest, BodiesTogetherAreBounded) {
  TestServer server([](HttpOptions& options) { options.limits.buffered_bytes = 100'000; });
  auto status_of_body = [&](std::size_t size) {
    return status_of(ask(server.unix_path(), post(fmt::format("Content-Length: {}\r\n", size),
                                                  std::string(size, 'x'))));
  };
  EXPECT_EQ(status_of_body(150'000), "503");
  // Nothing of what was refused, answered or cut off is counted any more.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status_of_body(90'000), "200");
    RawClient gone(server.unix_path());
    gone.send(post("Content-Length: 90000\r\n", "x"));
    // The next one may otherwise be seen before this one's end.
    gone.half_close();
    (void)gone.receive_all();
  }
}

TEST(HttpLimitsTest, TenThousandConnectionsLeaveNothingBehind) {
  TestServer server;
  (void)ask(server.unix_path(), post(""));
  const std::size_t before = open_descriptors();
  constexpr std::string_view kEnds[] = {kGet, "GET / HT", "", "\x01", "BREW / HTTP/1.1\r\n\r\n"};
  for (std::size_t i = 0; i < 10'000; ++i) {
    RawClient client(server.unix_path());
    (void)client.send(kEnds[i % 5]);
    if (i % 10 == 0) (void)client.receive(1);
  }
  // The server closes when it is told; the next answers come after that.
  for (int i = 0; i < 1000 && open_descriptors() > before; ++i) {
    (void)http_request(server.unix_endpoint(), "GET", "/a");
  }
  EXPECT_LE(open_descriptors(), before);
}

TEST(HttpLimitsTest, ABudgetIsKept) {
  // poll() comes back although clients never stop asking.
  testing::TempFolder folder;
  HttpOptions options;
  options.unix_path = folder.file("s");
  int answered = 0;
  auto server = HttpServer::open(options, [&](const HttpRequest&) {
                  ++answered;
                  return HttpResponse{.body = "x"};
                }).value();
  RawClient client(options.unix_path);
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += kGet;
  ASSERT_TRUE(client.send(requests));
  while (answered == 0) server->poll(1);
  EXPECT_LT(answered, 100);
  while (answered < 100) server->poll(1'000'000);
}

}  // namespace
}  // namespace berth
