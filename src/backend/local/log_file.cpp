#include "backend/local/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace berth::local {

LogFile::LogFile(std::string path, std::int64_t limit_bytes)
    : path_(std::move(path)), half_bytes_(limit_bytes / 2) {}

bool LogFile::open() {
  if (fd_) return true;
  fd_.reset(::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                   0600));
  return static_cast<bool>(fd_);
}

void LogFile::rotate() {
  fd_.reset();
  size_ = 0;
  // If it fails the file is begun anew all the same: the limit holds.
  (void)std::rename(path_.c_str(), (path_ + ".1").c_str());
}

void LogFile::lose(std::size_t bytes) {
  lost_bytes_ += static_cast<std::int64_t>(bytes);
  lost_errno_ = errno;
}

void LogFile::note_losses() {
  if (lost_bytes_ == 0 || !open()) return;
  const std::string note = fmt::format("\n[berth: {} bytes of this log could not be written: {}]\n",
                                       lost_bytes_, std::strerror(lost_errno_));
  const ssize_t wrote = ::write(fd_.get(), note.data(), note.size());
  if (wrote < 0) return;
  size_ += wrote;
  if (static_cast<std::size_t>(wrote) == note.size()) lost_bytes_ = 0;
}

void LogFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return lose(bytes.size());
    size_ += wrote;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void LogFile::write(std::string_view bytes) {
  if (half_bytes_ <= 0) return;
  while (!bytes.empty()) {
    if (size_ >= half_bytes_) rotate();
    const auto room = static_cast<std::size_t>(half_bytes_ - size_);
    const std::string_view part = bytes.substr(0, room);
    bytes.remove_prefix(part.size());
    if (!open()) {
      lose(part.size());
      continue;
    }
    note_losses();
    // Still full: this part is lost as well, without trying for each page of it.
    if (lost_bytes_ != 0) {
      lost_bytes_ += static_cast<std::int64_t>(part.size());
      continue;
    }
    append(part);
  }
}

void LogFile::finish() {
  note_losses();
  fd_.reset();
}

}  // namespace berth::local
