#include "server/growing_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file.h"
#include "base/file_identity.h"

namespace berth {
namespace {

constexpr std::int64_t kBlockBytes = 64 << 10;

// A plain file and nothing else: the folder may be a job's own.
Fd open_plain(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const int why = fd ? EINVAL : errno;
    fd = Fd();
    errno = why;
    return fd;
  }
  return fd;
}

std::int64_t size_of(const Fd& fd) {
  struct stat info {};
  return fstat(fd.get(), &info) == 0 ? info.st_size : 0;
}

// Looks from the end of one file after the other, the newest first, for where a line begins.
struct LineSearch {
  std::int64_t newlines = 0;  // still to be passed
  std::int64_t bytes = 0;     // still to be looked at
};

// Nothing: not in this file.
std::optional<std::int64_t> line_start(const Fd& file, LineSearch& search) {
  std::string block;
  for (std::int64_t end = size_of(file); end > 0;) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - std::min(kBlockBytes, search.bytes));
    block.resize(static_cast<std::size_t>(end - begin));
    const ssize_t got = pread(file.get(), block.data(), block.size(), begin);
    if (got != end - begin) return end;  // it cannot be read, or became shorter
    std::size_t before = block.size();
    while (before > 0) {
      const std::size_t at = block.rfind('\n', before - 1);
      if (at == std::string::npos) break;
      if (--search.newlines == 0) return begin + static_cast<std::int64_t>(at) + 1;
      before = at;
    }
    search.bytes -= end - begin;
    if (search.bytes <= 0) return begin;
    end = begin;
  }
  return std::nullopt;
}

bool ends_with_newline(const Fd& file) {
  char last = 0;
  return pread(file.get(), &last, 1, size_of(file) - 1) == 1 && last == '\n';
}

}  // namespace

Status GrowingLog::open() {
  files_.clear();
  offset_ = 0;
  if (Fd older = open_plain(path_ + ".1"); older) files_.push_back(std::move(older));
  Fd newer = open_plain(path_);
  if (!newer && errno != ENOENT) return fail(open_error(path_, errno));
  if (newer) files_.push_back(std::move(newer));
  return {};
}

void GrowingLog::skip_to_last_lines(std::int64_t lines, std::int64_t most_bytes) {
  while (!files_.empty() && size_of(files_.back()) == 0 && files_.size() > 1) files_.pop_back();
  if (files_.empty()) return;
  // The newline at the very end ends the last line; it does not begin another.
  LineSearch search{.newlines = lines + (ends_with_newline(files_.back()) ? 1 : 0),
                    .bytes = most_bytes};
  if (search.newlines == 0) search.bytes = 0;
  for (std::size_t i = files_.size(); i-- > 0;) {
    const auto start = search.bytes > 0 ? line_start(files_[i], search) : size_of(files_[i]);
    if (!start) continue;
    files_.erase(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(i));
    offset_ = *start;
    return;
  }
}

void GrowingLog::end_here() {
  left_ = -offset_;
  for (const Fd& file : files_) left_ += size_of(file);
}

std::size_t GrowingLog::read(std::string& out, std::size_t most) {
  most = static_cast<std::size_t>(std::min(static_cast<std::int64_t>(most), left_));
  while (most > 0) {
    if (files_.empty() && !has_appeared()) return 0;
    if (const std::size_t got = read_some(out, most); got > 0) return got;
    if (files_.size() == 1 && !was_put_aside()) return 0;
    // It has been read to its end, and the next one is there.
    files_.erase(files_.begin());
    offset_ = 0;
  }
  return 0;
}

std::size_t GrowingLog::read_some(std::string& out, std::size_t most) {
  const std::size_t from = out.size();
  out.resize(from + most);
  const ssize_t got =
      std::max<ssize_t>(0, pread(files_.front().get(), out.data() + from, most, offset_));
  out.resize(from + static_cast<std::size_t>(got));
  offset_ += got;
  left_ -= got;
  return static_cast<std::size_t>(got);
}

// A log is there from the first byte that is printed.
bool GrowingLog::has_appeared() {
  Fd file = open_plain(path_);
  if (!file) return false;
  files_.push_back(std::move(file));
  return true;
}

// The name stands for a new file: that one is next.
bool GrowingLog::was_put_aside() {
  struct stat mine {};
  struct stat named {};
  if (fstat(files_.front().get(), &mine) != 0 || lstat(path_.c_str(), &named) != 0 ||
      identity_of(mine) == identity_of(named)) {
    return false;
  }
  return has_appeared();
}

}  // namespace berth
