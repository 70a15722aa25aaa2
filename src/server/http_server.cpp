#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <deque>
#include <exception>
#include <map>

#include "server/access.h"
#include "server/connection.h"
#include "server/http.h"
#include "server/listener.h"
#include "server/response_text.h"
#include "server/target.h"

namespace berth {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr int kMostAcceptedAtOnce = 16;  // then the others have their turn
constexpr auto kPauseWithoutDescriptors = std::chrono::milliseconds(100);

// Waits for a descriptor that belongs to somebody else.
class Watch {
 public:
  Watch(asio::io_context& context, int fd) : descriptor_(context, fd) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { (void)descriptor_.release(); }

  // Calls `then` once when there is something to read.
  template <class Then>
  void arm(Then then) {
    if (armed_) return;
    armed_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [this, then](const error_code& error) {
                             if (error) return;  // cancelled: this may be gone
                             armed_ = false;
                             then();
                           });
  }

 private:
  asio::posix::stream_descriptor descriptor_;
  bool armed_ = false;
};

std::optional<Peer> peer_of(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return std::nullopt;
  return Peer{.uid = who.uid, .gid = who.gid, .admin = who.uid == 0 || who.uid == ::geteuid()};
}

// For a client that is one too many: a word if it goes at once, then the end.
void turn_away(int fd) {
  const HttpResponse response = refusal_response(503, "too many connections");
  const std::string text = response_head(response, Framing::kLength, false) + response.body;
  (void)::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)::shutdown(fd, SHUT_WR);
  // A close over unread bytes would take the word back.
  std::array<char, 16 << 10> unread;
  (void)::recv(fd, unread.data(), unread.size(), MSG_DONTWAIT);
}

class AsioServer final : public HttpServer, public ConnectionHost {
 public:
  AsioServer(const HttpOptions& options, HttpHandler handler)
      : options_(options), handler_(std::move(handler)) {
    budget_.limit = options_.limits.buffered_bytes;
  }
  ~AsioServer() override {
    ready_.clear();
    while (!connections_.empty()) connections_.begin()->second->close();
    watches_.clear();
    unix_watch_.reset();
    tcp_watch_.reset();
    // What still waits in context_ is dropped with it, and never called.
  }

  [[nodiscard]] Status listen() {
    if (!options_.unix_path.empty()) {
      BERTH_TRY(UnixListener listener, UnixListener::open(options_.unix_path, options_.unix_mode));
      unix_.emplace(std::move(listener));
      unix_watch_ = std::make_unique<Watch>(context_, unix_->fd());
    }
    if (!options_.tcp_address.empty()) {
      BERTH_TRY(tcp_, open_tcp_listener(options_.tcp_address, options_.tcp_port));
      tcp_watch_ = std::make_unique<Watch>(context_, tcp_.socket.get());
    }
    await_clients();
    return {};
  }

  // --- HttpServer

  [[nodiscard]] std::uint16_t tcp_port() const override { return tcp_.port; }

  void poll(std::int64_t budget_us) override {
    const auto deadline = Clock::now() + std::chrono::microseconds(budget_us);
    if (context_.stopped()) context_.restart();
    do {
      const bool moved = context_.poll_one() > 0;
      const bool served = serve_next();
      if (!moved && !served) return;
    } while (Clock::now() < deadline);
  }

  void wait(std::int64_t timeout_us) override {
    if (!ready_.empty() || timeout_us <= 0) return;
    for (const auto& watch : watches_) {
      watch->arm([] {});
    }
    if (context_.stopped()) context_.restart();
    // Requests are not answered here: their turn comes in poll().
    context_.run_one_for(std::chrono::microseconds(timeout_us));
  }

  void watch(int fd) override { watches_.push_back(std::make_unique<Watch>(context_, fd)); }

  void wake_streams() override {
    if (streams_ == 0) return;
    for (const auto& [id, connection] : connections_) {
      if (connection->is_streaming()) connection->wake();
    }
  }

  [[nodiscard]] std::size_t streams() const override { return streams_; }

  // --- ConnectionHost

  void want_turn(const std::shared_ptr<Connection>& connection) override {
    ready_.push_back(connection);
  }
  void closed(Connection& connection) override {
    if (connection.peer()) {
      const auto count = by_uid_.find(connection.peer()->uid);
      if (--count->second == 0) by_uid_.erase(count);
    } else {
      --tcp_connections_;
    }
    connections_.erase(connection.id());
  }
  [[nodiscard]] const HttpLimits& limits() const override { return options_.limits; }
  [[nodiscard]] BodyBudget& budget() override { return budget_; }
  [[nodiscard]] bool open_stream(const Connection& connection) override {
    std::size_t& own = streams_by_uid_[uid_of(connection)];
    if (streams_ >= options_.limits.streams || own >= options_.limits.streams_per_uid) return false;
    ++streams_;
    ++own;
    return true;
  }
  void close_stream(const Connection& connection) override {
    --streams_;
    const auto own = streams_by_uid_.find(uid_of(connection));
    if (--own->second == 0) streams_by_uid_.erase(own);
  }

  std::optional<Refusal> refuse(const Connection& connection, const RawRequest& head) override {
    if (auto refusal = refuse_page(connection, head)) return refusal;
    if (!asker(connection, head)) return Refusal{401, "a token is needed before a body is read"};
    return std::nullopt;
  }

  HttpResponse answer(const Connection& connection, RawRequest raw) override {
    if (const auto refusal = refuse_page(connection, raw)) {
      return refusal_response(refusal->status, refusal->why);
    }
    auto target = parse_target(raw.target);
    if (!target) return refusal_response(400, "bad target");
    HttpRequest request;
    request.method = raw.method == "HEAD" ? "GET" : std::move(raw.method);
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    request.content_type = std::move(raw.content_type);
    request.body = std::move(raw.body);
    request.last_event_id = std::move(raw.last_event_id);
    request.peer = asker(connection, raw);
    try {
      return handler_(request);
    } catch (const std::exception&) {
      return refusal_response(500, "the server failed");
    }
  }

 private:
  [[nodiscard]] std::optional<Peer> asker(const Connection& connection,
                                          const RawRequest& raw) const {
    if (connection.peer()) return connection.peer();
    const auto token = bearer_token(raw.authorization);
    if (token && same_secret(*token, options_.token)) return options_.token_peer;
    return std::nullopt;
  }

  // Whose streams they are: over TCP nobody else has any.
  [[nodiscard]] std::uint32_t uid_of(const Connection& connection) const {
    return connection.peer().value_or(options_.token_peer).uid;
  }

  // What a browser sends for a page of somebody else's.
  [[nodiscard]] std::optional<Refusal> refuse_page(const Connection& connection,
                                                   const RawRequest& raw) const {
    const bool over_tcp = !connection.peer().has_value();
    if (over_tcp && !raw.host.empty() && !is_own_host(raw.host, options_.tcp_address)) {
      return Refusal{403, "the Host header names another machine"};
    }
    if (raw.has_origin && !is_own_origin(raw.origin, raw.host)) {
      return Refusal{403, "the Origin header names another site"};
    }
    return std::nullopt;
  }

  bool serve_next() {
    if (ready_.empty()) return false;
    const std::shared_ptr<Connection> connection = std::move(ready_.front());
    ready_.pop_front();
    connection->serve();
    return true;
  }

  void await_clients() {
    if (unix_watch_) unix_watch_->arm([this] { accept_from(unix_->fd(), true); });
    if (tcp_watch_) tcp_watch_->arm([this] { accept_from(tcp_.socket.get(), false); });
  }

  void accept_from(int listener, bool is_unix) {
    for (int i = 0; i < kMostAcceptedAtOnce; ++i) {
      Fd client(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (client.get() >= 0) {
        admit(std::move(client), is_unix);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_.expires_after(kPauseWithoutDescriptors);
        pause_.async_wait([this](const error_code& error) {
          if (!error) await_clients();
        });
        return;
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      }
    }
    await_clients();
  }

  void admit(Fd client, bool is_unix) {
    std::optional<Peer> peer;
    if (is_unix) peer = peer_of(client.get());
    if (is_unix && !peer) return;
    if (connections_.size() >= options_.limits.connections ||
        (!is_unix && tcp_connections_ >= options_.limits.tcp_connections)) {
      return turn_away(client.get());
    }
    if (peer && by_uid_[peer->uid] >= options_.limits.connections_per_uid) {
      return turn_away(client.get());
    }
    if (!is_unix) {
      const int yes = 1;
      (void)::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      (void)::setsockopt(client.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    }
    const asio::generic::stream_protocol protocol(is_unix ? AF_UNIX : AF_INET, 0);
    Connection::Socket socket(context_);
    error_code error;
    socket.assign(protocol, client.get(), error);
    if (error) return;
    (void)client.release();
    socket.non_blocking(true, error);
    if (peer) ++by_uid_[peer->uid];
    if (!is_unix) ++tcp_connections_;
    const std::uint64_t id = ++last_id_;
    const auto connection = std::make_shared<Connection>(*this, std::move(socket), id, peer);
    connections_.emplace(id, connection);
    connection->start();
    schedule_sweep();
  }

  // One timer looks at all deadlines, as long as there are connections.
  void schedule_sweep() {
    if (sweeping_ || connections_.empty()) return;
    sweeping_ = true;
    const HttpLimits& limits = options_.limits;
    const std::int64_t shortest =
        std::min({limits.request_timeout_us, limits.idle_timeout_us, limits.write_timeout_us});
    sweep_.expires_after(
        std::chrono::microseconds(std::clamp<std::int64_t>(shortest / 4, 5'000, 1'000'000)));
    sweep_.async_wait([this](const error_code& error) {
      if (error) return;
      sweeping_ = false;
      sweep();
      schedule_sweep();
    });
  }

  void sweep() {
    const auto now = Clock::now();
    for (auto it = connections_.begin(); it != connections_.end();) {
      const std::shared_ptr<Connection> connection = it->second;
      ++it;  // check_deadline() may take it out
      connection->check_deadline(now);
    }
  }

  HttpOptions options_;
  HttpHandler handler_;
  BodyBudget budget_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  asio::steady_timer sweep_{context_};
  asio::steady_timer pause_{context_};
  bool sweeping_ = false;
  std::optional<UnixListener> unix_;
  TcpListener tcp_;
  std::unique_ptr<Watch> unix_watch_;
  std::unique_ptr<Watch> tcp_watch_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  std::map<std::uint32_t, std::size_t> by_uid_;
  std::map<std::uint32_t, std::size_t> streams_by_uid_;
  std::deque<std::shared_ptr<Connection>> ready_;
  std::uint64_t last_id_ = 0;
  std::size_t streams_ = 0;
  std::size_t tcp_connections_ = 0;
};

}  // namespace

std::optional<std::string_view> HttpRequest::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpOptions& options,
                                                     HttpHandler handler) {
  try {
    auto server = std::make_unique<AsioServer>(options, std::move(handler));
    BERTH_CHECK_OK(server->listen());
    return std::unique_ptr<HttpServer>(std::move(server));
  } catch (const boost::system::system_error& error) {
    return fail(io_error("server", error.what()));
  }
}

}  // namespace berth
