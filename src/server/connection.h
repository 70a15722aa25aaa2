// One client: reads its requests, writes the responses, one after the other, within the limits.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "server/http.h"
#include "server/request_reader.h"

namespace berth {

class Connection;

// What connections share; it outlives them.
class ConnectionHost {
 public:
  ConnectionHost() = default;
  ConnectionHost(const ConnectionHost&) = delete;
  ConnectionHost& operator=(const ConnectionHost&) = delete;
  virtual ~ConnectionHost() = default;

  // Wants serve() to be called, once; from poll() and in turn.
  virtual void want_turn(const std::shared_ptr<Connection>& connection) = 0;
  virtual void closed(Connection& connection) = 0;
  // The handler's answer, or the refusal of somebody who may not ask.
  virtual HttpResponse answer(const Connection& connection, RawRequest request) = 0;
  // Before its body is read: the refusal of somebody who may not ask.
  virtual std::optional<Refusal> refuse(const Connection& connection, const RawRequest& head) = 0;
  [[nodiscard]] virtual const HttpLimits& limits() const = 0;
  [[nodiscard]] virtual BodyBudget& budget() = 0;
  // One more response that goes on; false: there are as many as may be, of all or of this user.
  [[nodiscard]] virtual bool open_stream(const Connection& connection) = 0;
  virtual void close_stream(const Connection& connection) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Clock = std::chrono::steady_clock;

  // `peer`: of the Unix socket; nothing on TCP.
  Connection(ConnectionHost& host, Socket socket, std::uint64_t id, std::optional<Peer> peer);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  void start();
  // Its turn: answers the request that is complete, or goes on with its stream.
  void serve();
  // Its stream may have more to say.
  void wake();
  void check_deadline(Clock::time_point now);
  void close();

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::optional<Peer>& peer() const { return peer_; }
  [[nodiscard]] bool is_streaming() const { return stream_ != nullptr; }

 private:
  enum class Phase : std::uint8_t {
    kReading,
    kAsking,     // a request is complete and waits for its turn
    kWriting,    // a response
    kStreaming,  // one that goes on
    kDraining,   // answered for the last time; reads away what comes, so that the answer arrives
    kClosed,
  };
  static constexpr std::size_t kReadBytes = 16 << 10;
  static constexpr std::size_t kWriteBytes = 256 << 10;  // one deadline each

  void read_some();
  void on_read(bool failed, std::size_t size);
  void drain(std::size_t size);
  void parse();
  void set_reading_deadline(bool began);
  void answer_request();
  void refuse(const Refusal& refusal);
  void respond(HttpResponse response, bool keep_alive, bool with_body, bool old);
  void start_stream(std::unique_ptr<HttpStream> stream);
  void continue_stream();
  void end_stream();
  void write_some();
  void on_written(bool failed, std::size_t size);
  void after_response();
  void set_deadline(std::int64_t us);

  ConnectionHost& host_;
  Socket socket_;
  std::uint64_t id_;
  std::optional<Peer> peer_;
  RequestReader reader_;
  Phase phase_ = Phase::kReading;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::string input_;
  std::array<char, kReadBytes> chunk_;
  std::string output_;
  std::size_t written_ = 0;
  std::size_t drained_ = 0;
  std::unique_ptr<HttpStream> stream_;
  bool stream_chunked_ = false;
  bool stream_over_ = false;
  bool woken_ = false;
  bool wants_turn_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool keep_alive_ = false;
};

}  // namespace berth
