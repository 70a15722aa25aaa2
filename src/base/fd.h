// A file descriptor that is closed with its owner, and what is read from and written to it whole.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// False: errno says why; part of it may be written.
[[nodiscard]] bool write_whole(int fd, std::string_view bytes);
// The file from its beginning, at most `max_bytes` of it. Nothing: errno says why.
[[nodiscard]] std::optional<std::string> read_whole(int fd, std::size_t max_bytes);
[[nodiscard]] std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace berth
