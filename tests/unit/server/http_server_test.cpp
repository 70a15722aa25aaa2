// The server over real sockets: who asks, what is answered, and how connections go on.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/http.h"
#include "support/stores.h"

namespace berth {
namespace {

using testing::ask;
using testing::body_of;
using testing::RawClient;
using testing::status_of;
using testing::TestServer;

std::string request(std::string_view target, std::string_view fields = {},
                    std::string_view method = "GET") {
  return fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n", method,
                     target, fields);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string peer_is(bool admin) {
  return fmt::format("peer={} admin={}", ::geteuid(), admin);
}

TEST(HttpServerTest, TheUnixSocketKnowsWhoAsks) {
  TestServer server;
  const std::string reply = ask(server.unix_path(), request("/v1/jobs?limit=3"));
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_EQ(body_of(reply), "GET /v1/jobs limit=3; body=0 " + peer_is(true));
  EXPECT_TRUE(has(reply, "X-Content-Type-Options: nosniff\r\n")) << reply;
  EXPECT_TRUE(has(reply, "Connection: close\r\n")) << reply;
  EXPECT_FALSE(has(reply, "Server:")) << reply;
}

TEST(HttpServerTest, SomebodyElseIsNoAdmin) {
  TestServer server;
  std::filesystem::permissions(std::filesystem::path(server.unix_path()).parent_path(),
                               std::filesystem::perms(0755));
  const int status = testing::in_child([&] {
    if (::setuid(65534) != 0) return 77;
    return has(ask(server.unix_path(), request("/")), "peer=65534 admin=false") ? 0 : 1;
  });
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root becomes somebody else";
  EXPECT_EQ(status, 0);
}

TEST(HttpServerTest, TcpNeedsTheToken) {
  TestServer server;
  auto reply_to = [&](std::string_view fields) {
    RawClient client(server.port());
    client.send(request("/", fields));
    return body_of(client.receive_all());
  };
  EXPECT_TRUE(has(reply_to(""), " nobody"));
  EXPECT_TRUE(has(reply_to("Authorization: Bearer wrong\r\n"), " nobody"));
  EXPECT_TRUE(has(reply_to("Authorization: Basic secret\r\n"), " nobody"));
  EXPECT_TRUE(has(reply_to("Authorization: Bearer secret\r\n"), "peer=4242 admin=false"));
}

TEST(HttpServerTest, WithoutATokenNobodyIsSomebody) {
  TestServer server([](HttpOptions& options) { options.token.clear(); });
  RawClient client(server.port());
  client.send(request("/", "Authorization: Bearer \r\n"));
  EXPECT_TRUE(has(client.receive_all(), " nobody"));
}

TEST(HttpServerTest, OtherSitesAreRefused) {
  TestServer server;
  auto status_with = [&](std::string_view host, std::string_view fields) {
    RawClient client(server.port());
    client.send(
        fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n", host, fields));
    return status_of(client.receive_all());
  };
  const std::string own = fmt::format("127.0.0.1:{}", server.port());
  EXPECT_EQ(status_with(own, ""), "200");
  EXPECT_EQ(status_with("localhost", ""), "200");
  EXPECT_EQ(status_with("evil.example", ""), "403");
  EXPECT_EQ(status_with(own, fmt::format("Origin: http://{}\r\n", own)), "200");
  EXPECT_EQ(status_with(own, "Origin: http://evil.example\r\n"), "403");
  EXPECT_EQ(status_with(own, "Origin: null\r\n"), "403");
  EXPECT_EQ(status_of(ask(server.unix_path(), request("/", "Origin: http://evil.example\r\n"))),
            "403");
}

TEST(HttpServerTest, HostileTargetsAreRefused) {
  TestServer server;
  for (const char* target : {"/../x", "/%2e%2e/x", "/a%00", "/%", "//", "*", "http://localhost/"}) {
    EXPECT_EQ(status_of(ask(server.unix_path(), request(target))), "400") << target;
  }
  EXPECT_EQ(status_of(ask(server.unix_path(), request("/" + std::string(9'000, 'a')))), "414");
}

TEST(HttpServerTest, HeadIsGetWithoutTheBody) {
  TestServer server;
  const std::string reply = ask(server.unix_path(), request("/a", "", "HEAD"));
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_EQ(body_of(reply), "");
  const std::string body = body_of(ask(server.unix_path(), request("/a")));
  EXPECT_TRUE(has(reply, fmt::format("Content-Length: {}\r\n", body.size()))) << reply;
  EXPECT_EQ(body_of(ask(server.unix_path(), request("/countdown", "", "HEAD"))), "");
}

TEST(HttpServerTest, ConnectionsGoOn) {
  TestServer server;
  RawClient client(server.unix_path());
  const std::string get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (int i = 0; i < 3; ++i) {
    client.send(get);
    EXPECT_TRUE(has(client.receive_until("admin=true"), "Connection: keep-alive"));
  }
  // Several at once are answered in their order.
  client.send("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nxy" + get +
              request("/last"));
  const std::string replies = client.receive_all();
  const std::size_t first = replies.find("POST /1; body=2");
  const std::size_t second = replies.find("GET /a; body=0");
  const std::size_t third = replies.find("GET /last; body=0");
  EXPECT_TRUE(first < second && second < third && third != std::string::npos) << replies;
}

TEST(HttpServerTest, TheOldProtocolClosesAtOnce) {
  TestServer server;
  const std::string reply = ask(server.unix_path(), "GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(status_of(reply), "200");
  EXPECT_TRUE(has(reply, "Connection: close"));
}

TEST(HttpServerTest, AClientThatHasSaidAllIsAnswered) {
  TestServer server;
  RawClient client(server.unix_path());
  client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.half_close();
  EXPECT_EQ(status_of(client.receive_all()), "200");
}

TEST(HttpServerTest, ContinueIsSaidBeforeTheBodyComes) {
  TestServer server;
  RawClient client(server.unix_path());
  client.send(request("/a", "Expect: 100-continue\r\nContent-Length: 3\r\n", "POST"));
  EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("xyz");
  EXPECT_TRUE(has(client.receive_all(), "body=3"));
}

TEST(HttpServerTest, AHandlerThatFailsIsNoEndOfTheServer) {
  TestServer server;
  EXPECT_EQ(status_of(ask(server.unix_path(), request("/throw"))), "500");
  EXPECT_EQ(status_of(ask(server.unix_path(), request("/a"))), "200");
}

TEST(HttpServerTest, HeadersCannotBeSplit) {
  TestServer server;
  const std::string reply = ask(server.unix_path(), request("/split"));
  EXPECT_FALSE(has(reply, "\nX-Evil")) << reply;
}

TEST(HttpServerTest, NoContentHasNone) {
  TestServer server;
  const std::string reply = ask(server.unix_path(), request("/nothing"));
  EXPECT_EQ(status_of(reply), "204");
  EXPECT_EQ(body_of(reply), "");
  EXPECT_FALSE(has(reply, "Content-Length"));
}

TEST(HttpServerTest, BigBodiesGoBothWays) {
  TestServer server;
  EXPECT_EQ(body_of(ask(server.unix_path(), request("/big"))).size(), 8U << 20U);
  const std::size_t size = 8 << 20;
  RawClient client(server.unix_path());
  client.send(request("/a", fmt::format("Content-Length: {}\r\n", size), "POST"));
  client.send(std::string(size, 'x'));
  EXPECT_TRUE(has(client.receive_all(), fmt::format("body={}", size)));
}

TEST(HttpServerTest, StreamsComeInChunksAndEnd) {
  TestServer server;
  const auto reply = http_request(server.unix_endpoint(), "GET", "/countdown");
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->body.size(), 130U);
  EXPECT_EQ(reply->body.substr(0, 10), "zzzzzyyyyy");
  const std::string raw = ask(server.unix_path(), request("/countdown"));
  EXPECT_TRUE(has(raw, "Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(raw.substr(raw.size() - 7), "\r\n0\r\n\r\n");
  // The connection goes on after a stream.
  RawClient client(server.unix_path());
  client.send("GET /countdown HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.receive_until("\r\n0\r\n\r\n");
  client.send(request("/a"));
  EXPECT_TRUE(has(client.receive_all(), "GET /a;"));
  // The old protocol knows no chunks.
  const std::string old = body_of(ask(server.unix_path(), "GET /countdown HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(old, reply->body);
}

TEST(HttpServerTest, StreamsAreWoken) {
  TestServer server;
  RawClient client(server.unix_path());
  client.send(request("/ticker"));
  EXPECT_TRUE(has(client.receive_until("tick\n"), "200 OK"));
  for (int i = 0; i < 3; ++i) {
    server.wake_streams();
    EXPECT_TRUE(has(client.receive_until("tick\n"), "tick\n"));
  }
}

TEST(HttpServerTest, AStreamThatFailsIsSeenAsCut) {
  TestServer server;
  const auto reply = http_request(server.unix_endpoint(), "GET", "/failing");
  EXPECT_FALSE(reply);
  EXPECT_EQ(status_of(ask(server.unix_path(), request("/a"))), "200");
}

TEST(HttpServerTest, AStaleSocketIsReplacedAndALiveOneIsNot) {
  testing::TempFolder folder;
  const std::string path = folder.file("s");
  HttpOptions options;
  options.unix_path = path;
  EXPECT_EQ(testing::in_child([&] {
              auto server = HttpServer::open(options, testing::test_handler);
              if (server) ::_exit(0);  // dies with its socket lying there
              return 1;
            }),
            0);
  ASSERT_TRUE(std::filesystem::exists(path));
  auto server = HttpServer::open(options, testing::test_handler);
  ASSERT_TRUE(server) << server.error().text();
  auto second = HttpServer::open(options, testing::test_handler);
  ASSERT_FALSE(second);
  EXPECT_TRUE(has(second.error().text(), "another server listens")) << second.error().text();
  server->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "mine";
  EXPECT_FALSE(HttpServer::open(options, testing::test_handler));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(HttpServerTest, TheSocketHasItsMode) {
  TestServer server([](HttpOptions& options) { options.unix_mode = 0620; });
  struct stat info {};
  ASSERT_EQ(::stat(server.unix_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0620U);
}

TEST(HttpServerTest, BadAddressesAreSaid) {
  HttpOptions options;
  options.tcp_address = "nowhere.example";
  EXPECT_EQ(HttpServer::open(options, testing::test_handler).error().exit_code(), 2);
  options.tcp_address.clear();
  options.unix_path = "/tmp/" + std::string(200, 'x');
  EXPECT_EQ(HttpServer::open(options, testing::test_handler).error().exit_code(), 2);
  options.unix_path = "/nowhere/s";
  EXPECT_FALSE(HttpServer::open(options, testing::test_handler));
}

TEST(HttpServerTest, AWatchedDescriptorEndsTheWait) {
  testing::TempFolder folder;
  HttpOptions options;
  options.unix_path = folder.file("s");
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  {
    auto server = HttpServer::open(options, testing::test_handler).value();
    server->watch(pipes[0]);
    // A wait that did not end would last for the rest of the test's hours.
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(::write(pipes[1], "xx", 2), 2);
      char byte = 0;
      server->wait(36'000'000'000);
      ASSERT_EQ(::read(pipes[0], &byte, 1), 1);
      server->wait(36'000'000'000);  // one is left
      ASSERT_EQ(::read(pipes[0], &byte, 1), 1);
      server->poll(1000);
    }
  }
  EXPECT_GE(::fcntl(pipes[0], F_GETFD), 0);  // whoever is watched keeps its own
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST(HttpServerTest, NothingIsInheritedByJobs) {
  TestServer server;
  RawClient client(server.unix_path());
  client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.receive_until("admin=true");
  for (int fd = 3; fd < 200; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    struct stat info {};
    if (flags < 0 || ::fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) continue;
    EXPECT_TRUE((flags & FD_CLOEXEC) != 0) << fd;
  }
}

}  // namespace
}  // namespace berth
