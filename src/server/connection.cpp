#include "server/connection.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <exception>

#include "server/response_text.h"

namespace berth {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::int64_t kDrainUs = 2'000'000;
constexpr std::size_t kMostDrained = 64 << 20;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(ConnectionHost& host, Socket socket, std::uint64_t id,
                       std::optional<Peer> peer)
    : host_(host),
      socket_(std::move(socket)),
      id_(id),
      peer_(peer),
      reader_(host.limits(), host.budget(),
              [this](const RawRequest& head) { return host_.refuse(*this, head); }) {}

void Connection::start() {
  set_deadline(host_.limits().idle_timeout_us);
  read_some();
}

void Connection::set_deadline(std::int64_t us) {
  deadline_ = Clock::now() + std::chrono::microseconds(us);
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  if (stream_ != nullptr) host_.close_stream(*this);
  stream_.reset();
  reader_.restart();  // before the client can see the end
  error_code ignored;
  socket_.close(ignored);
  host_.closed(*this);
}

void Connection::check_deadline(Clock::time_point now) {
  if (now < deadline_) return;
  const bool half_a_request =
      phase_ == Phase::kReading && reader_.state() != RequestReader::State::kIdle;
  if (!half_a_request) return close();
  refuse({408, "the request took too long"});
}

// --- reading
// --------------------------------------------------------------------------------------

void Connection::read_some() {
  if (reading_ || phase_ == Phase::kClosed) return;
  reading_ = true;
  socket_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](const error_code& error, std::size_t size) {
                            self->reading_ = false;
                            self->on_read(static_cast<bool>(error), size);
                          });
}

void Connection::on_read(bool failed, std::size_t size) {
  switch (phase_) {
    case Phase::kClosed:
      return;
    case Phase::kReading:
      if (failed) return close();
      input_.append(chunk_.data(), size);
      return parse();
    case Phase::kDraining:
      if (failed) return close();
      return drain(size);
    case Phase::kStreaming:
      // Nothing is asked in the middle of a stream; this is how it shows that a client has gone.
      if (failed) return close();
      input_.append(chunk_.data(), size);
      if (input_.size() < kReadBytes) read_some();
      return;
    case Phase::kAsking:
    case Phase::kWriting:
      // From a stream that has ended meanwhile.
      if (failed) return close();
      input_.append(chunk_.data(), size);
  }
}

void Connection::drain(std::size_t size) {
  drained_ += size;
  if (drained_ > kMostDrained) return close();
  read_some();
}

void Connection::parse() {
  const bool began_before = reader_.state() != RequestReader::State::kIdle;
  switch (reader_.read(input_)) {
    case RequestReader::State::kRefused:
      return refuse(reader_.refusal());
    case RequestReader::State::kComplete:
      phase_ = Phase::kAsking;
      deadline_ = Clock::time_point::max();
      wants_turn_ = true;
      return host_.want_turn(shared_from_this());
    case RequestReader::State::kIdle:
      break;
    case RequestReader::State::kHead:
    case RequestReader::State::kBody:
      if (!began_before) set_deadline(host_.limits().request_timeout_us);
      if (reader_.take_continue()) {
        error_code error;
        // A few bytes into an empty buffer; a client that left no room for them is gone.
        const std::size_t sent = socket_.write_some(asio::buffer(kContinue), error);
        if (error || sent != kContinue.size()) return close();
      }
  }
  read_some();
}

// --- answering
// ------------------------------------------------------------------------------------

void Connection::serve() {
  wants_turn_ = false;
  if (phase_ == Phase::kAsking) return answer_request();
  if (phase_ == Phase::kStreaming) continue_stream();
}

void Connection::answer_request() {
  RawRequest request = reader_.take();
  const bool keep_alive = request.keep_alive;
  const bool with_body = request.method != "HEAD";
  const bool old = request.old;
  respond(host_.answer(*this, std::move(request)), keep_alive, with_body, old);
}

void Connection::refuse(const Refusal& refusal) {
  reader_.restart();  // what has come of it is not kept while the rest is drained
  respond(refusal_response(refusal.status, refusal.why), false, true, false);
}

void Connection::respond(HttpResponse response, bool keep_alive, bool with_body, bool old) {
  keep_alive_ = keep_alive;
  if (response.stream != nullptr && with_body && !host_.open_stream(*this)) {
    response = refusal_response(503, "too many responses that go on");
  }
  if (response.stream == nullptr) {
    output_ = response_head(response, Framing::kLength, keep_alive_);
    if (with_body && response.status != 204 && response.status != 304) output_ += response.body;
    phase_ = Phase::kWriting;
  } else {
    stream_chunked_ = !old;
    output_ = response_head(response, old ? Framing::kToEnd : Framing::kChunked, keep_alive_);
    phase_ = Phase::kWriting;
    if (with_body) start_stream(std::move(response.stream));
  }
  written_ = 0;
  write_some();
  if (phase_ == Phase::kStreaming) read_some();
}

void Connection::start_stream(std::unique_ptr<HttpStream> stream) {
  stream_ = std::move(stream);
  stream_over_ = false;
  woken_ = true;
  phase_ = Phase::kStreaming;
}

void Connection::wake() {
  woken_ = true;
  if (phase_ != Phase::kStreaming || writing_ || wants_turn_) return;
  wants_turn_ = true;
  host_.want_turn(shared_from_this());
}

void Connection::continue_stream() {
  if (writing_ || !woken_) return;
  woken_ = false;
  std::string piece;
  try {
    stream_over_ = !stream_->read(piece, kWriteBytes / 4);
  } catch (const std::exception&) {
    return close();  // without a last chunk: the client sees that it is not whole
  }
  output_.clear();
  written_ = 0;
  if (stream_chunked_) {
    append_chunk(output_, piece);
    if (stream_over_) output_ += kLastChunk;
  } else {
    output_ = std::move(piece);
  }
  if (!output_.empty()) return write_some();
  if (stream_over_) end_stream();
}

void Connection::end_stream() {
  stream_.reset();
  host_.close_stream(*this);
  phase_ = Phase::kWriting;
  if (!stream_chunked_) keep_alive_ = false;
  after_response();
}

void Connection::write_some() {
  writing_ = true;
  set_deadline(host_.limits().write_timeout_us);
  const std::size_t size = std::min(output_.size() - written_, kWriteBytes);
  asio::async_write(socket_, asio::buffer(output_.data() + written_, size),
                    [self = shared_from_this()](const error_code& error, std::size_t sent) {
                      self->writing_ = false;
                      self->on_written(static_cast<bool>(error), sent);
                    });
}

void Connection::on_written(bool failed, std::size_t size) {
  if (phase_ == Phase::kClosed) return;
  if (failed) return close();
  written_ += size;
  if (written_ < output_.size()) return write_some();
  if (phase_ != Phase::kStreaming) return after_response();
  deadline_ = Clock::time_point::max();
  if (stream_over_) return end_stream();
  wake();  // what was sent has gone out: there may be more
}

void Connection::after_response() {
  output_ = {};
  if (!keep_alive_) {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    phase_ = Phase::kDraining;
    input_.clear();
    set_deadline(std::min(kDrainUs, host_.limits().request_timeout_us));
    return read_some();
  }
  phase_ = Phase::kReading;
  set_deadline(host_.limits().idle_timeout_us);
  if (input_.empty()) return read_some();
  parse();
}

}  // namespace berth
