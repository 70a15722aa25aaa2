#include "server/log_stream.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "server/growing_log.h"

namespace berth {
namespace {

// So much of the one, and the other has its turn, even if there is more.
constexpr std::size_t kMostOfOne = 4 << 20;

struct NamedLog {
  std::string_view name;
  GrowingLog log;
};

class LogStream final : public HttpStream {
 public:
  explicit LogStream(LogQuery query) : query_(std::move(query)), attempt_(query_.attempt) {}

  [[nodiscard]] Status open() {
    BERTH_CHECK_OK(open_run());
    for (NamedLog& one : logs_) {
      if (query_.tail_lines >= 0) {
        one.log.skip_to_last_lines(query_.tail_lines, kMostLookedForLines);
      }
      if (!query_.now) one.log.end_here();
    }
    return {};
  }

  bool read(std::string& out, std::size_t max_bytes) override {
    // Asked before the last look, so that nothing is missed between.
    const LogMoment now = query_.now ? query_.now() : LogMoment{.attempt = attempt_};
    const std::size_t most = out.size() + max_bytes;
    while (out.size() < most) {
      if (read_some(out, most - out.size())) continue;
      if (now.attempt <= attempt_) return now.goes_on;
      begin_next_run(out);
    }
    return true;
  }

 private:
  [[nodiscard]] bool shows_both() const { return query_.out && query_.err; }

  [[nodiscard]] Status open_run() {
    logs_.clear();
    turn_ = shown_ = 0;
    if (attempt_ == 0) return {};
    const std::string start = fmt::format("{}/{}", query_.folder(attempt_), query_.task);
    const auto add = [&](std::string_view ending, std::string_view name) {
      logs_.push_back({.name = name, .log = GrowingLog(fmt::format("{}.{}", start, ending))});
      return logs_.back().log.open();
    };
    if (query_.out) BERTH_CHECK_OK(add("out", "standard output"));
    if (query_.err) BERTH_CHECK_OK(add("err", "standard error"));
    return {};
  }

  void begin_next_run(std::string& out) {
    // Where a log of it is no plain file the other one is shown all the same.
    ++attempt_;
    (void)open_run();
    if (attempt_ > 1) announce(out, fmt::format("run {}", attempt_));
  }

  // Of the one whose turn it is, or of the other; false: of none.
  bool read_some(std::string& out, std::size_t most) {
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      const std::size_t at = (turn_ + i) % logs_.size();
      piece_.clear();
      if (logs_[at].log.read(piece_, most) == 0) continue;
      if (at != shown_) announce(out, logs_[at].name);
      turn_bytes_ = at == shown_ ? turn_bytes_ + piece_.size() : piece_.size();
      turn_ = shown_ = at;
      if (query_.now && turn_bytes_ > kMostOfOne) turn_ = (at + 1) % logs_.size();
      in_line_ = piece_.back() != '\n';
      out += piece_;
      return true;
    }
    return false;
  }

  void announce(std::string& out, std::string_view what) {
    if (!shows_both()) return;
    out += fmt::format("{}==> {} <==\n", std::exchange(in_line_, false) ? "\n" : "", what);
  }

  LogQuery query_;
  std::uint32_t attempt_;
  std::vector<NamedLog> logs_;
  std::size_t turn_ = 0;        // of logs_, which is read first
  std::size_t shown_ = 0;       // of logs_, which the last bytes are of
  std::size_t turn_bytes_ = 0;  // of that one, without a break
  bool in_line_ = false;        // the last byte ends no line
  std::string piece_;
};

}  // namespace

Result<std::unique_ptr<HttpStream>> log_stream(LogQuery query) {
  auto stream = std::make_unique<LogStream>(std::move(query));
  BERTH_CHECK_OK(stream->open());
  return stream;
}

}  // namespace berth
