#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/file_identity.h"
#include "base/number.h"
#include "telemetry/progress_line.h"
#include "telemetry/progress_log.h"
#include "telemetry/untrusted_file.h"

namespace berth {
namespace {

using telemetry::kMaxLineBytes;

constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
// So much of what was read last must still stand there, or the file is another one.
constexpr std::size_t kSeenBytes = 64;

class JsonLines final : public ProgressSource {
 public:
  JsonLines(std::string path, std::optional<std::uint32_t> owner)
      : path_(std::move(path)), owner_(owner) {}

  bool poll(std::vector<ProgressPoint>& out, std::size_t max_bytes) override {
    if (!file_ && !open()) return false;
    std::size_t read = 0;
    bool replaced = false;  // once a poll, however fast files change places
    while (read < max_bytes) {
      check_rewritten();
      const std::size_t n = read_chunk(std::min(kChunkBytes, max_bytes - read), out);
      read += n;
      if (n != 0) continue;
      if (replaced || !follow_replacement()) return false;
      replaced = true;
    }
    return true;
  }

  const ProgressIssues& issues() const override { return issues_; }

 private:
  bool open() {
    auto opened =
        telemetry::open_untrusted(AT_FDCWD, path_, telemetry::FileKinds::kRegularOrFifo, owner_);
    if (!opened.handle) {
      if (opened.fault != fault_ && !opened.fault.empty()) note(opened.fault);
      fault_ = std::move(opened.fault);
      return false;
    }
    fault_.clear();
    file_ = std::move(opened.handle);
    fifo_ = S_ISFIFO(opened.status.st_mode);
    identity_ = identity_of(opened.status);
    begin();
    return true;
  }

  // From the start of the file: a new run.
  void begin() {
    if (!partial_.empty()) note(fmt::format("line {} has no end", line_));
    partial_.clear();
    seen_.clear();
    skipping_ = false;
    offset_ = 0;
    line_ = 1;
  }

  // The file was cut, or written anew in its place.
  void check_rewritten() {
    if (fifo_ || offset_ == 0) return;
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || status.st_size == offset_) return;
    char there[kSeenBytes];
    const auto size = static_cast<std::int64_t>(seen_.size());
    const bool same =
        status.st_size > offset_ &&
        telemetry::read_some(file_.get(), there, seen_.size(), offset_ - size) == size &&
        std::string_view(there, seen_.size()) == seen_;
    if (!same) begin();
  }

  std::size_t read_chunk(std::size_t most, std::vector<ProgressPoint>& out) {
    buffer_.resize(kChunkBytes);
    const std::int64_t n =
        telemetry::read_some(file_.get(), buffer_.data(), most, fifo_ ? -1 : offset_);
    if (n <= 0) return 0;
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
    offset_ += n;
    seen_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kSeenBytes)));
    if (seen_.size() > kSeenBytes) seen_.erase(0, seen_.size() - kSeenBytes);
    split(bytes, out);
    return bytes.size();
  }

  void split(std::string_view bytes, std::vector<ProgressPoint>& out) {
    while (true) {
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (!skipping_ && partial_.size() + piece.size() > kMaxLineBytes) {
        note(fmt::format("line {} is longer than {} bytes", line_, kMaxLineBytes));
        skipping_ = true;
        partial_.clear();
      }
      if (!skipping_) partial_ += piece;
      if (end == std::string_view::npos) return;
      if (!skipping_) read_line(out);
      partial_.clear();
      skipping_ = false;
      ++line_;
      bytes.remove_prefix(end + 1);
    }
  }

  void read_line(std::vector<ProgressPoint>& out) {
    const std::string_view line = trim(partial_);
    if (line.empty()) return;
    ProgressPoint point;
    const std::string fault = telemetry::read_progress_line(line, point);
    if (fault.empty()) {
      out.push_back(point);
    } else {
      note(fmt::format("line {}: {}: found '{}'", line_, fault, printable(line)));
    }
  }

  // At the end of what is open: true if another file has taken its place.
  bool follow_replacement() {
    struct stat status {};
    if (::fstatat(AT_FDCWD, path_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        identity_of(status) == identity_) {
      return false;
    }
    file_ = Fd();
    return open();
  }

  void note(const std::string& what) {
    ++issues_.damaged;
    issues_.last = fmt::format("{}: {}", printable(path_, 400), what);
  }

  std::string path_;
  std::optional<std::uint32_t> owner_;
  Fd file_;
  bool fifo_ = false;
  FileIdentity identity_;
  std::int64_t offset_ = 0;
  std::string buffer_;
  std::string seen_;
  std::string partial_;    // a line whose end has not come
  bool skipping_ = false;  // within a line that is too long
  std::int64_t line_ = 1;
  std::string fault_;  // why it could not be opened, said once
  ProgressIssues issues_;
};

}  // namespace

std::unique_ptr<ProgressSource> follow_json_lines(std::string path,
                                                  std::optional<std::uint32_t> owner) {
  return std::make_unique<JsonLines>(std::move(path), owner);
}

}  // namespace berth
