// The other side: one request over a socket of its own.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "server/http.h"
#include "server/listener.h"
#include "server/socket_address.h"

namespace berth {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;
using beast::string_view;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostReplyBytes = 64 << 20;
constexpr std::uint32_t kMostHeadBytes = 64 << 10;
constexpr std::size_t kMostUnparsed = 128 << 10;
constexpr std::int64_t kForHeadUs = 60'000'000;  // of a response that goes on

using Piece = std::function<bool(std::string_view)>;

std::string name_of(const HttpEndpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return endpoint.unix_path;
  return fmt::format("{}:{}", endpoint.address, endpoint.port);
}

// Gathers the body, or hands it on piece by piece.
class ResponseParser final : public http::basic_parser<false> {
 public:
  explicit ResponseParser(const Piece* piece) : piece_(piece) {
    header_limit(kMostHeadBytes);
    // Not "none": Beast 1.74 takes every length for more than that.
    body_limit(piece == nullptr ? kMostReplyBytes : std::numeric_limits<std::uint64_t>::max());
    eager(true);
  }
  [[nodiscard]] HttpReply& reply() { return reply_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override {
    reply_.status = status;
  }
  void on_field_impl(http::field, string_view, string_view, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code& error) override {
    // An error's words come whole.
    if (piece_ == nullptr || reply_.status != 200) {
      if (reply_.body.size() + bytes.size() > kMostReplyBytes) error = http::error::body_limit;
      reply_.body.append(bytes.data(), bytes.size());
    } else if (!stopped_ && !bytes.empty()) {
      stopped_ = !(*piece_)(std::string_view(bytes.data(), bytes.size()));
    }
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(error_code&) override {}

  const Piece* piece_;
  HttpReply reply_;
  bool stopped_ = false;
};

// A socket whose every step ends by a deadline.
class Client {
 public:
  Client(const HttpEndpoint& endpoint, Clock::time_point deadline)
      : name_(name_of(endpoint)), deadline_(deadline) {}

  [[nodiscard]] Status connect(const HttpEndpoint& endpoint) {
    const bool local = !endpoint.unix_path.empty();
    const auto address =
        local ? unix_address(endpoint.unix_path) : tcp_address(endpoint.address, endpoint.port);
    if (!address) return fail(usage_error(fmt::format("'{}' is no address", printable(name_))));
    socket_ =
        Fd(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket_.get() < 0) return fail(system_error("no socket"));
    while (::connect(socket_.get(), address->get(), address->size) != 0) {
      if (errno == EINTR) continue;
      if (errno == EINPROGRESS) return finish_connect();
      // A Unix socket whose queue is full does not tell when it is not.
      if (errno != EAGAIN) return fail(system_error("nobody answers"));
      if (Clock::now() > deadline_) return fail(timed_out());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
  }

  [[nodiscard]] Status send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EPIPE || errno == ECONNRESET) {
        return {};  // the server has said no already: its words are to be read
      } else if (errno == EAGAIN) {
        BERTH_CHECK_OK(await(POLLOUT));
      } else if (errno != EINTR) {
        return fail(system_error("cannot be written to"));
      }
    }
    return {};
  }

  // 0 bytes: the end.
  [[nodiscard]] Result<std::string_view> receive() {
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
      if (got >= 0) return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
      if (errno == EAGAIN) {
        BERTH_CHECK_OK(await(POLLIN));
      } else if (errno != EINTR) {
        return fail(system_error("the connection broke"));
      }
    }
  }

  void wait_for_ever() { deadline_ = Clock::time_point::max(); }
  [[nodiscard]] Error not_http(const char* what) const { return io_error(name_, what); }

 private:
  [[nodiscard]] Error system_error(const char* what) const {
    return io_error(name_, fmt::format("{}: {}", what, std::strerror(errno)));
  }
  [[nodiscard]] Error timed_out() const { return io_error(name_, "no answer in time"); }

  [[nodiscard]] Status finish_connect() {
    BERTH_CHECK_OK(await(POLLOUT));
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    if (error != 0) return fail(system_error("nobody answers"));
    return {};
  }

  [[nodiscard]] Status await(short events) {
    for (;;) {
      int timeout_ms = -1;
      if (deadline_ != Clock::time_point::max()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
        if (left <= 0) return fail(timed_out());
        timeout_ms = static_cast<int>(std::min<std::int64_t>(left, 1'000'000));
      }
      pollfd wanted{.fd = socket_.get(), .events = events, .revents = 0};
      const int ready = ::poll(&wanted, 1, timeout_ms);
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return fail(system_error("cannot be waited for"));
    }
  }

  std::string name_;
  Clock::time_point deadline_;
  Fd socket_;
  std::array<char, 64 << 10> buffer_;
};

Clock::time_point after(std::int64_t us) {
  return Clock::now() + std::chrono::microseconds(us);
}

bool is_clean(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) return false;
  }
  return true;
}

Result<std::string> request_text(const HttpEndpoint& endpoint, std::string_view method,
                                 std::string_view target, std::string_view body) {
  if (!is_clean(method) || !is_clean(target) || !is_clean(endpoint.token)) {
    return fail(internal_error("a request with a space or a control character in it"));
  }
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  const std::string host =
      endpoint.unix_path.empty()
          ? fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.address, v6 ? "]" : "", endpoint.port)
          : "localhost";
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", method, target, host);
  if (!endpoint.token.empty()) {
    text += fmt::format("Authorization: Bearer {}\r\n", endpoint.token);
  }
  if (!body.empty()) text += "Content-Type: application/json\r\n";
  if (!body.empty() || method != "GET") text += fmt::format("Content-Length: {}\r\n", body.size());
  text += "\r\n";
  return text.append(body);
}

// Feeds what comes to the parser until the response is over, or `piece` has had enough.
Result<HttpReply> read_response(Client& client, const Piece* piece) {
  const auto parser = std::make_unique<ResponseParser>(piece);
  std::string unparsed;
  while (!parser->is_done() && !parser->stopped()) {
    BERTH_TRY(const std::string_view bytes, client.receive());
    error_code error;
    if (bytes.empty()) {
      if (!parser->got_some()) return fail(client.not_http("the server hung up"));
      parser->put_eof(error);
      if (error) return fail(client.not_http("the response is cut short"));
      break;
    }
    unparsed.append(bytes);
    std::size_t taken = 0;
    while (!error && taken < unparsed.size() && !parser->is_done()) {
      taken +=
          parser->put(boost::asio::buffer(unparsed.data() + taken, unparsed.size() - taken), error);
    }
    unparsed.erase(0, taken);
    if (error == http::error::body_limit) {
      return fail(client.not_http("the response is too large"));
    }
    if ((error && error != http::error::need_more) || unparsed.size() > kMostUnparsed) {
      return fail(client.not_http("the response is not HTTP"));
    }
    if (piece != nullptr && parser->reply().status == 200) client.wait_for_ever();
  }
  return std::move(parser->reply());
}

Result<HttpReply> exchange(const HttpEndpoint& endpoint, std::string_view method,
                           std::string_view target, std::string_view body, std::int64_t timeout_us,
                           const Piece* piece) {
  BERTH_TRY(const std::string text, request_text(endpoint, method, target, body));
  const auto client = std::make_unique<Client>(endpoint, after(timeout_us));
  BERTH_CHECK_OK(client->connect(endpoint));
  BERTH_CHECK_OK(client->send(text));
  return read_response(*client, piece);
}

}  // namespace

Result<HttpReply> http_request(const HttpEndpoint& endpoint, std::string_view method,
                               std::string_view target, std::string_view body,
                               std::int64_t timeout_us) {
  return exchange(endpoint, method, target, body, timeout_us, nullptr);
}

Result<HttpReply> http_follow(const HttpEndpoint& endpoint, std::string_view target,
                              const std::function<bool(std::string_view)>& piece) {
  return exchange(endpoint, "GET", target, {}, kForHeadUs, &piece);
}

}  // namespace berth
