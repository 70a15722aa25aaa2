// The client's side: what servers may do to it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/listener.h"
#include "support/http.h"

namespace berth {
namespace {

using testing::TestServer;

// A server that answers the first who asks with these bytes, whatever was asked.
class Canned {
 public:
  explicit Canned(std::string answer, bool closes = true)
      : listener_(open_tcp_listener("127.0.0.1", 0).value()),
        thread_([this, answer = std::move(answer), closes] {
          pollable();
          const Fd client(::accept(listener_.socket.get(), nullptr, nullptr));
          char bytes[4096];
          (void)!::read(client.get(), bytes, sizeof bytes);
          (void)::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
          if (!closes) (void)!::read(client.get(), bytes, sizeof bytes);  // until the client goes
        }) {}
  Canned(const Canned&) = delete;
  Canned& operator=(const Canned&) = delete;
  ~Canned() { thread_.join(); }
  [[nodiscard]] HttpEndpoint endpoint() const {
    return {.unix_path = {}, .address = "127.0.0.1", .port = listener_.port, .token = {}};
  }

 private:
  // The listener does not block; accept() is to.
  void pollable() const {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(listener_.socket.get(), &set);
    (void)::select(listener_.socket.get() + 1, &set, nullptr, nullptr, nullptr);
  }
  TcpListener listener_;
  std::thread thread_;
};

std::string outcome(const Result<HttpReply>& reply) {
  return reply ? fmt::format("{} {}", reply->status, reply->body) : reply.error().text();
}

std::string answer_of(std::string answer) {
  Canned server(std::move(answer));
  return outcome(http_request(server.endpoint(), "GET", "/"));
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(HttpClientTest, AsksOverBothSockets) {
  TestServer server;
  EXPECT_TRUE(has(outcome(http_request(server.unix_endpoint(), "POST", "/a?b=c", "{}")),
                  "200 POST /a b=c; body=2 peer="));
  EXPECT_TRUE(has(outcome(http_request(server.tcp_endpoint("secret"), "DELETE", "/a")),
                  "200 DELETE /a; body=0 peer=4242"));
  EXPECT_TRUE(has(outcome(http_request(server.tcp_endpoint(), "GET", "/a")), "nobody"));
}

TEST(HttpClientTest, ReadsEveryKindOfBody) {
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), "200 hi");
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\n\r\nhi"), "200 hi");
  EXPECT_EQ(answer_of("HTTP/1.0 404 No\r\n\r\nno"), "404 no");
  EXPECT_EQ(answer_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
            "200 hi");
  EXPECT_EQ(answer_of("HTTP/1.1 204 No\r\n\r\n"), "204 ");
}

TEST(HttpClientTest, SaysWhatIsWrong) {
  EXPECT_TRUE(has(answer_of(""), "the server hung up"));
  EXPECT_TRUE(has(answer_of("SSH-2.0-x\r\n"), "not HTTP"));
  EXPECT_TRUE(has(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi"), "cut short"));
  EXPECT_TRUE(
      has(answer_of("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), "too large"));
  EXPECT_TRUE(has(answer_of("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')), "not HTTP"));
}

TEST(HttpClientTest, GivesUp) {
  Canned server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", false);
  EXPECT_TRUE(
      has(outcome(http_request(server.endpoint(), "GET", "/", {}, 50'000)), "no answer in time"));
}

TEST(HttpClientTest, NobodyThere) {
  EXPECT_TRUE(
      has(outcome(http_request({.unix_path = "/nowhere/s"}, "GET", "/")), "nobody answers"));
  EXPECT_TRUE(
      has(outcome(http_request({.unix_path = {}, .address = "what", .port = 1}, "GET", "/")),
          "is no address"));
}

TEST(HttpClientTest, SendsNoSplitRequests) {
  TestServer server;
  EXPECT_FALSE(http_request(server.unix_endpoint(), "GET", "/a b"));
  EXPECT_FALSE(http_request(server.unix_endpoint(), "GET", "/a\r\nX: y"));
  EXPECT_FALSE(http_request(server.tcp_endpoint("a\r\nX: y"), "GET", "/"));
}

TEST(HttpClientTest, FollowsUntilTheEnd) {
  TestServer server;
  std::string all;
  const auto reply = http_follow(server.unix_endpoint(), "/countdown", [&](std::string_view piece) {
    all += piece;
    return true;
  });
  EXPECT_EQ(outcome(reply), "200 ");
  EXPECT_EQ(all.size(), 130U);
}

TEST(HttpClientTest, FollowsUntilItHasEnough) {
  TestServer server;
  std::size_t bytes = 0;
  const auto reply = http_follow(server.unix_endpoint(), "/flood", [&](std::string_view piece) {
    bytes += piece.size();
    return bytes < 1'000'000;
  });
  EXPECT_EQ(outcome(reply), "200 ");
  EXPECT_GE(bytes, 1'000'000U);
}

TEST(HttpClientTest, AnErrorIsNoPiece) {
  TestServer server;
  std::size_t pieces = 0;
  const auto reply = http_follow(server.unix_endpoint(), "/throw", [&](std::string_view) {
    ++pieces;
    return true;
  });
  EXPECT_TRUE(has(outcome(reply), "500 {\"error\"")) << outcome(reply);
  EXPECT_EQ(pieces, 0U);
}

}  // namespace
}  // namespace berth
