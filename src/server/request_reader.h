// From the bytes of a connection to requests: HTTP/1.1 as Boost.Beast reads it, with limits, and
// without what proxies and servers are known to read differently.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.h"

namespace berth {

// Shared by all connections: what the bodies that are being read take together.
struct BodyBudget {
  std::size_t used = 0;
  std::size_t limit = 0;
};

struct RawRequest {
  std::string method;  // as sent
  std::string target;
  std::string host;
  std::string origin;
  std::string authorization;
  std::string content_type;
  std::string last_event_id;
  bool has_origin = false;
  bool old = false;         // HTTP/1.0: no chunked response
  bool keep_alive = false;  // the connection goes on afterwards
  std::string body;
};

// The status to answer with before the connection is closed, and why.
struct Refusal {
  int status = 400;
  std::string_view why;
};

// Whether a body may come, asked when the head has: nothing of it is taken before.
using BodyCheck = std::function<std::optional<Refusal>(const RawRequest& head)>;

class RequestReader {
 public:
  enum class State : std::uint8_t { kIdle, kHead, kBody, kComplete, kRefused };

  // More is a request with too many headers.
  static constexpr std::size_t kMostHeaders = 256;

  // Limits and budget must outlive it. No `check`: every body may come.
  RequestReader(const HttpLimits& limits, BodyBudget& budget, BodyCheck check = {});
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Takes from the front of `input` what belongs to the request that is being read. kIdle: nothing
  // of one has come. What stays in `input` is bounded by the limits; call again when more has come.
  State read(std::string& input);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  // Once for a request whose client waits for "100 Continue" before it sends the body.
  [[nodiscard]] bool take_continue();
  // After kComplete; then reads the next one.
  [[nodiscard]] RawRequest take();
  // Gives up what has come of a request, and its share of the budget.
  void restart();

 private:
  class Parser;

  bool refuse(int status, std::string_view why);
  bool find_head(const std::string& input);
  bool check_line_end(const std::string& input, std::size_t at);
  void read_head(std::string& input);
  std::size_t read_piece(std::string_view bytes);
  void read_body(std::string& input);

  const HttpLimits& limits_;
  BodyBudget& budget_;
  BodyCheck check_;
  std::unique_ptr<Parser> parser_;
  State state_ = State::kIdle;
  Refusal refusal_;
  std::size_t scanned_ = 0;     // of the head, looked through so far
  std::size_t line_ends_ = 0;   // among these
  std::size_t line_start_ = 0;  // of the line that goes on
  std::size_t head_size_ = 0;   // 0: its end has not come
  std::size_t empty_lines_ = 0;
  bool wants_continue_ = false;
};

}  // namespace berth
