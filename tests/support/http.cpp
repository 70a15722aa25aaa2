#include "support/http.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "server/socket_address.h"

namespace berth::testing {
namespace {

// So many pieces, then the end.
class Countdown final : public HttpStream {
 public:
  Countdown(int pieces, std::size_t size) : left_(pieces), size_(size) {}
  [[nodiscard]] bool read(std::string& out, std::size_t max_bytes) override {
    while (left_ > 0 && out.size() < max_bytes)
      out.append(size_, static_cast<char>('a' + --left_ % 26));
    return left_ > 0;
  }

 private:
  int left_;
  std::size_t size_;
};

// A letter per wake-up; never ends.
class Ticker final : public HttpStream {
 public:
  [[nodiscard]] bool read(std::string& out, std::size_t /*max_bytes*/) override {
    if (++reads_ % 2 == 1) out += "tick\n";
    return true;
  }

 private:
  int reads_ = 0;
};

class Failing final : public HttpStream {
 public:
  [[nodiscard]] bool read(std::string& /*out*/, std::size_t /*max_bytes*/) override {
    throw std::runtime_error("a stream that fails");
  }
};

HttpResponse streamed(std::unique_ptr<HttpStream> stream) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.stream = std::move(stream);
  return response;
}

Fd connect_to(const SocketAddress& address) {
  Fd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), address.get(), address.size) != 0) return Fd();
  return socket;
}

}  // namespace

HttpResponse test_handler(const HttpRequest& request) {
  const std::string first = request.path.empty() ? "" : request.path[0];
  if (first == "big") return {.content_type = "text/plain", .body = std::string(8 << 20, 'b')};
  if (first == "countdown") return streamed(std::make_unique<Countdown>(26, 5));
  if (first == "flood") return streamed(std::make_unique<Countdown>(1 << 30, 1 << 16));
  if (first == "ticker") return streamed(std::make_unique<Ticker>());
  if (first == "failing") return streamed(std::make_unique<Failing>());
  if (first == "throw") throw std::runtime_error("a handler that fails");
  if (first == "nothing") return {.status = 204, .body = "not sent"};
  if (first == "split") return {.headers = {{"X-Name", "a\r\nX-Evil: b"}}};
  std::string text = request.method + " ";
  for (const std::string& segment : request.path) text += "/" + segment;
  for (const auto& [name, value] : request.query) text += fmt::format(" {}={}", name, value);
  text += fmt::format("; body={}", request.body.size());
  text += request.peer ? fmt::format(" peer={} admin={}", request.peer->uid, request.peer->admin)
                       : std::string(" nobody");
  return {.content_type = "text/plain", .body = text};
}

TestServer::TestServer(const std::function<void(HttpOptions&)>& change, HttpHandler handler)
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  HttpOptions options;
  options.unix_path = unix_path();
  options.tcp_address = "127.0.0.1";
  options.token = "secret";
  options.token_peer = {.uid = 4242, .gid = 4242};
  if (change) change(options);
  auto opened = HttpServer::open(options, std::move(handler));
  if (!opened) throw std::runtime_error(opened.error().text());
  server_ = std::move(*opened);
  port_ = server_->tcp_port();
  server_->watch(event_.get());
  thread_ = std::thread([this] { run(); });
}

TestServer::~TestServer() {
  stop_ = true;
  nudge();
  thread_.join();
}

void TestServer::run() {
  while (!stop_) {
    server_->wait(60'000'000);
    std::uint64_t count = 0;
    (void)!::read(event_.get(), &count, sizeof count);
    if (wake_.exchange(false)) server_->wake_streams();
    server_->poll(10'000);
  }
  server_.reset();
}

void TestServer::nudge() {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

void TestServer::wake_streams() {
  wake_ = true;
  nudge();
}

HttpEndpoint TestServer::tcp_endpoint(const std::string& token) const {
  return {.unix_path = {}, .address = "127.0.0.1", .port = port_, .token = token};
}

RawClient::RawClient(const std::string& unix_path)
    : socket_(connect_to(*unix_address(unix_path))) {}
RawClient::RawClient(std::uint16_t tcp_port)
    : socket_(connect_to(*tcp_address("127.0.0.1", tcp_port))) {}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::fill() {
  constexpr int kMinuteMs = 60'000;
  pollfd wanted{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&wanted, 1, kMinuteMs) <= 0) {
    timed_out_ = true;
    return false;
  }
  std::string bytes(64 << 10, '\0');
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  buffer_.append(bytes, 0, static_cast<std::size_t>(got));
  return true;
}

std::string RawClient::receive(std::size_t count) {
  while (buffer_.size() < count && fill()) {
  }
  std::string taken = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return taken;
}

std::string RawClient::receive_all() {
  while (fill()) {
  }
  return timed_out_ ? "TIMEOUT" : std::exchange(buffer_, {});
}

std::string RawClient::receive_until(std::string_view text) {
  while (buffer_.find(text) == std::string::npos && fill()) {
  }
  const std::size_t end = buffer_.find(text);
  return receive(end == std::string::npos ? buffer_.size() : end + text.size());
}

void RawClient::half_close() {
  ::shutdown(socket_.get(), SHUT_WR);
}

std::string ask(const std::string& unix_path, std::string_view bytes) {
  RawClient client(unix_path);
  (void)client.send(bytes);
  return client.receive_all();
}

std::string status_of(std::string_view response) {
  constexpr std::string_view kStart = "HTTP/1.1 ";
  if (response.substr(0, kStart.size()) != kStart) return std::string(response.substr(0, 40));
  return std::string(response.substr(kStart.size(), 3));
}

std::string body_of(std::string_view response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string_view::npos ? "" : std::string(response.substr(end + 4));
}

}  // namespace berth::testing
