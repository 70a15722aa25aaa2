#include "server/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "server/target.h"

namespace berth {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;
using beast::string_view;

// The last chunk with its trailer: nobody needs more.
constexpr std::size_t kMostTrailer = 4 << 10;
// Method and version beside the target.
constexpr std::size_t kMostRequestLine = kMostTargetBytes + 64;

bool is_token_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

enum class Look : std::uint8_t { kGood, kBad, kNeedsMore };

// What stands before a chunk: a line end if it is not the first, its size, a line end. Extensions,
// which nobody uses, and signs and spaces, which others read differently, are not served.
Look look_at_chunk_head(std::string_view bytes, bool is_first) {
  constexpr std::size_t kMostDigits = 16;
  if (!is_first) {
    if (bytes.substr(0, 2) != std::string_view("\r\n").substr(0, bytes.size())) return Look::kBad;
    if (bytes.size() < 2) return Look::kNeedsMore;
    bytes.remove_prefix(2);
  }
  const std::size_t digits =
      std::min(bytes.find_first_not_of("0123456789abcdefABCDEF"), bytes.size());
  if (digits > kMostDigits) return Look::kBad;
  bytes.remove_prefix(digits);
  if (bytes.empty()) return Look::kNeedsMore;
  if (digits == 0 || bytes.front() != '\r') return Look::kBad;
  if (bytes.size() == 1) return Look::kNeedsMore;
  return bytes[1] == '\n' ? Look::kGood : Look::kBad;
}

Refusal refusal_of(const error_code& error) {
  if (error == http::error::header_limit) return {431, "the header fields are too large"};
  if (error == http::error::body_limit) return {413, "the body is too large"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are spoken"};
  if (error == http::error::bad_content_length) return {400, "bad Content-Length"};
  if (error == http::error::bad_transfer_encoding) return {400, "bad Transfer-Encoding"};
  if (error == http::error::bad_target) return {400, "bad target"};
  return {400, "not HTTP"};
}

}  // namespace

// Collects the few fields that matter; says no to some by refusal().
class RequestReader::Parser final : public http::basic_parser<true> {
 public:
  explicit Parser(BodyBudget& budget) : budget_(budget) {}
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() override { budget_.used -= request_.body.size(); }

  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  [[nodiscard]] const RawRequest& head() const { return request_; }
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] bool before_chunk() const { return chunked() && chunk_left_ == 0; }
  [[nodiscard]] bool had_chunk() const { return had_chunk_; }
  RawRequest take() {
    budget_.used -= request_.body.size();
    request_.keep_alive = keep_alive() && !request_.old;
    return std::exchange(request_, {});
  }

 private:
  void refuse(int status, std::string_view why, error_code& error) {
    refusal_ = {status, why};
    error = http::error::bad_value;
  }

  void on_request_impl(http::verb verb, string_view method, string_view target, int version,
                       error_code& error) override {
    if (target.size() > kMostTargetBytes) return refuse(414, "the target is too long", error);
    if (verb == http::verb::connect || verb == http::verb::trace) {
      return refuse(405, "this method is not served", error);
    }
    if (verb == http::verb::unknown) return refuse(501, "an unknown method", error);
    request_.method = std::string(method);
    request_.target = std::string(target);
    request_.old = version < 11;
  }

  // The value of a field that may come once.
  void once(bool& seen, std::string& to, string_view value, error_code& error) {
    if (seen) return refuse(400, "a header field that may come once came twice", error);
    seen = true;
    to = std::string(value);
  }

  void on_field_impl(http::field field, string_view name, string_view value,
                     error_code& error) override {
    if (in_body_) return;  // of a trailer
    std::string ignored;
    switch (field) {
      case http::field::host:
        return once(has_host_, request_.host, value, error);
      case http::field::origin:
        return once(request_.has_origin, request_.origin, value, error);
      case http::field::authorization:
        return once(has_authorization_, request_.authorization, value, error);
      case http::field::content_type:
        return once(has_content_type_, request_.content_type, value, error);
      case http::field::content_length:
        return once(has_content_length_, ignored, value, error);
      case http::field::content_encoding:
        if (beast::iequals(value, "identity")) return;
        return refuse(415, "Content-Encoding is not served", error);
      case http::field::transfer_encoding:
        has_transfer_encoding_ = true;
        if (beast::iequals(value, "chunked")) return;
        return refuse(400, "no Transfer-Encoding but chunked is served", error);
      case http::field::expect:
        if (!beast::iequals(value, "100-continue")) return refuse(417, "bad Expect", error);
        expects_continue_ = true;
        return;
      default:
        if (beast::iequals(name, "Last-Event-ID")) request_.last_event_id = std::string(value);
    }
  }

  void on_header_impl(error_code& error) override {
    in_body_ = true;
    if (!has_host_ && !request_.old) return refuse(400, "the Host header is missing", error);
    if (has_transfer_encoding_ && (request_.old || has_content_length_)) {
      return refuse(400, "Transfer-Encoding where it may not be", error);
    }
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}

  std::size_t on_body_impl(string_view bytes, error_code& error) override {
    if (budget_.used + bytes.size() > budget_.limit) {
      refuse(503, "too many bodies at once", error);
      return 0;
    }
    request_.body.append(bytes.data(), bytes.size());
    budget_.used += bytes.size();
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t size, string_view, error_code&) override {
    chunk_left_ = size;
    had_chunk_ = true;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override {
    const std::size_t taken = on_body_impl(bytes, error);
    chunk_left_ -= taken;
    return taken;
  }
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, string_view, int, error_code&) override {}

  BodyBudget& budget_;
  RawRequest request_;
  Refusal refusal_{0, {}};
  bool in_body_ = false;
  bool expects_continue_ = false;
  bool has_host_ = false;
  bool has_authorization_ = false;
  bool has_content_type_ = false;
  bool has_content_length_ = false;
  bool has_transfer_encoding_ = false;
  bool had_chunk_ = false;
  std::uint64_t chunk_left_ = 0;
};

RequestReader::RequestReader(const HttpLimits& limits, BodyBudget& budget, BodyCheck check)
    : limits_(limits), budget_(budget), check_(std::move(check)) {
  restart();
}

RequestReader::~RequestReader() = default;

void RequestReader::restart() {
  parser_ = std::make_unique<Parser>(budget_);
  // Ours come first; Beast's stands behind them.
  parser_->header_limit(std::numeric_limits<std::uint32_t>::max());
  parser_->body_limit(limits_.body_bytes);
  parser_->eager(
      false);  // a step at a time: what comes of bytes does not depend on how they are cut
  state_ = State::kIdle;
  scanned_ = line_ends_ = line_start_ = head_size_ = empty_lines_ = 0;
  wants_continue_ = false;
}

bool RequestReader::refuse(int status, std::string_view why) {
  refusal_ = {status, why};
  state_ = State::kRefused;
  return false;
}

// A line feed ends a line only after a carriage return, and no line goes on in the next: programs
// differ in what they make of either.
bool RequestReader::check_line_end(const std::string& input, std::size_t at) {
  if (at == 0 || input[at - 1] != '\r') return refuse(400, "a bare line feed");
  if (++line_ends_ > kMostHeaders + 2) return refuse(431, "too many header fields");
  return true;
}

// Looks for the end of the head from where the last look ended, and no further than it may be; true
// if it has come.
bool RequestReader::find_head(const std::string& input) {
  const std::size_t end = std::min(input.size(), limits_.header_bytes);
  for (std::size_t i = scanned_; i < end; ++i) {
    if (line_ends_ == 0 && i == kMostRequestLine) return refuse(414, "the target is too long");
    const bool starts_line = i == line_start_ && i > 0;
    if (starts_line && (input[i] == ' ' || input[i] == '\t')) {
      return refuse(400, "a folded header field");
    }
    if (input[i] == '\0') return refuse(400, "a NUL byte in the head");
    if (input[i] != '\n') continue;
    if (!check_line_end(input, i)) return false;
    const bool empty_line = i - line_start_ == 1;
    line_start_ = i + 1;
    if (!empty_line) continue;
    head_size_ = i + 1;
    return true;
  }
  scanned_ = end;
  if (end == limits_.header_bytes) return refuse(431, "the header fields are too large");
  return false;
}

void RequestReader::read_head(std::string& input) {
  constexpr std::size_t kMostEmptyLines = 2;  // before the request: old clients send one
  while (line_ends_ == 0 && scanned_ == 0 && input.size() >= 2 && input[0] == '\r' &&
         input[1] == '\n') {
    if (++empty_lines_ > kMostEmptyLines) {
      refuse(400, "empty lines");
      return;
    }
    input.erase(0, 2);
  }
  if (input.empty()) return;
  if (input == "\r") return;
  if (state_ == State::kIdle) {
    if (!is_token_character(input[0])) {
      refuse(400, "not HTTP");
      return;
    }
    state_ = State::kHead;
  }
  if (!find_head(input)) return;
  error_code error;
  const std::size_t taken = parser_->put(boost::asio::buffer(input.data(), head_size_), error);
  if (error || taken != head_size_) {
    const Refusal why = parser_->refusal().status != 0 ? parser_->refusal() : refusal_of(error);
    refuse(why.status, why.why);
    return;
  }
  input.erase(0, head_size_);
  if (!parser_->is_done() && check_) {
    if (const auto why = check_(parser_->head())) {
      refuse(why->status, why->why);
      return;
    }
  }
  state_ = parser_->is_done() ? State::kComplete : State::kBody;
  wants_continue_ = state_ == State::kBody && parser_->expects_continue() && input.empty();
}

// The next piece of the body; how many bytes it took, 0 if more must come first.
std::size_t RequestReader::read_piece(std::string_view bytes) {
  // "0\r\n\r\n": a chunked body that is not over has so many bytes to come. Beast 1.74 asserts that
  // it has seen as many when it looks at the last chunk again.
  constexpr std::size_t kLastChunkBytes = 5;
  const bool before_chunk = parser_->before_chunk();
  if (before_chunk) {
    const Look look = look_at_chunk_head(bytes, !parser_->had_chunk());
    if (look == Look::kBad) refuse(400, "bad chunk");
    if (look != Look::kGood || bytes.size() < kLastChunkBytes) return 0;
  }
  error_code error;
  const std::size_t taken = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  const std::size_t last_chunk = parser_->is_done() ? taken : bytes.size();
  if (error && error != http::error::need_more) {
    const Refusal why = parser_->refusal().status != 0 ? parser_->refusal() : refusal_of(error);
    refuse(why.status, why.why);
  } else if (before_chunk && parser_->before_chunk() && last_chunk > kMostTrailer) {
    refuse(400, "the trailer is too large");
  }
  return taken;
}

void RequestReader::read_body(std::string& input) {
  std::size_t taken = 0;
  while (taken < input.size() && !parser_->is_done()) {
    const std::size_t piece = read_piece(std::string_view(input).substr(taken));
    taken += piece;
    if (state_ == State::kRefused || piece == 0) break;
  }
  input.erase(0, taken);
  if (state_ != State::kRefused && parser_->is_done()) state_ = State::kComplete;
}

RequestReader::State RequestReader::read(std::string& input) {
  if (state_ == State::kIdle || state_ == State::kHead) read_head(input);
  if (state_ == State::kBody) read_body(input);
  return state_;
}

bool RequestReader::take_continue() {
  return std::exchange(wants_continue_, false);
}

RawRequest RequestReader::take() {
  RawRequest request = parser_->take();
  restart();
  return request;
}

}  // namespace berth
