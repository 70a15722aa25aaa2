// The transport: HTTP/1.1 on a Unix socket and on TCP, with limits on everything that a client
// controls. What is answered is the Handler's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth {

// Who asks. On the Unix socket the kernel says it; on TCP the token does.
struct Peer {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool admin = false;  // may change everybody's jobs: root, and the user whom the server runs as
};

struct HttpRequest {
  std::string method;             // "GET", "POST", "DELETE"
  std::vector<std::string> path;  // "/v1/jobs/7" is {"v1", "jobs", "7"}: decoded, no "." or ".."
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string content_type;
  std::string body;
  std::string last_event_id;  // of a client of server-sent events that comes back
  std::optional<Peer> peer;   // nothing: no token, only what is public is answered

  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

// A response that goes on: server-sent events, or a log that is followed.
class HttpStream {
 public:
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;
  virtual ~HttpStream() = default;
  // Appends to `out` (at most about `max_bytes`) what there is to send now. False: that was all.
  // Called when wake() was, and when what was sent before has gone out.
  [[nodiscard]] virtual bool read(std::string& out, std::size_t max_bytes) = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<HttpStream> stream;  // instead of a body
};

struct HttpLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 8 << 20;
  std::size_t connections = 256;                 // a further one is closed at once
  std::size_t tcp_connections = 128;             // of these: who has no token yet keeps nobody out
  std::size_t connections_per_uid = 64;          // of the Unix socket
  std::size_t streams = 64;                      // responses that go on
  std::size_t streams_per_uid = 16;              // of these; who has the token is one user
  std::int64_t request_timeout_us = 10'000'000;  // from the first byte to the last of a request
  std::int64_t idle_timeout_us = 60'000'000;     // between requests
  std::int64_t write_timeout_us = 30'000'000;    // a client that does not read
  // Of all bodies that are being read together: then 503. Who has neither a uid nor the token sends
  // none: such a body is refused before it is read.
  std::size_t buffered_bytes = 64 << 20;
};

struct HttpOptions {
  std::string unix_path;           // "": none
  std::uint32_t unix_mode = 0666;  // who may connect; what they may do is theirs by uid
  std::string tcp_address;         // "127.0.0.1"; "": none
  std::uint16_t tcp_port = 0;      // 0: any free one
  std::string token;               // of TCP, compared in constant time; its peer is `token_peer`
  Peer token_peer;
  HttpLimits limits;
};

using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Runs on the thread of whoever calls poll(): nothing of it needs a lock.
class HttpServer {
 public:
  // The handler is called from poll(), and must not take long.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> open(const HttpOptions& options,
                                                                HttpHandler handler);
  HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t tcp_port() const = 0;
  // Serves what is ready, until there is nothing or `budget_us` is over.
  virtual void poll(std::int64_t budget_us) = 0;
  // Waits until there is something to serve, `fds` are readable, or `timeout_us` is over.
  virtual void wait(std::int64_t timeout_us) = 0;
  // Also waits for this descriptor to be readable.
  virtual void watch(int fd) = 0;
  // Streams may have more to say.
  virtual void wake_streams() = 0;
  [[nodiscard]] virtual std::size_t streams() const = 0;
};

// --- the other side
// --------------------------------------------------------------------------------

struct HttpEndpoint {
  std::string unix_path;  // or
  std::string address{};
  std::uint16_t port = 0;
  std::string token{};
};

struct HttpReply {
  int status = 0;
  std::string body;
};

// One request; `body` as JSON if it is not empty. Errors: nobody listens, a time-out, not HTTP.
[[nodiscard]] Result<HttpReply> http_request(const HttpEndpoint& endpoint, std::string_view method,
                                             std::string_view target, std::string_view body = {},
                                             std::int64_t timeout_us = 60'000'000);
// A response that goes on; `piece` is called as it comes and returns false to end it.
[[nodiscard]] Result<HttpReply> http_follow(const HttpEndpoint& endpoint, std::string_view target,
                                            const std::function<bool(std::string_view)>& piece);

}  // namespace berth
