// Sockets that listen.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace berth {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A Unix socket at `path` with this mode. What lies there is replaced only if it is a socket that
// nobody listens on. The file goes with the object, if it is still the same.
class UnixListener {
 public:
  [[nodiscard]] static Result<UnixListener> open(const std::string& path, std::uint32_t mode);
  UnixListener(UnixListener&& other) noexcept = default;
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  UnixListener(Descriptor socket, std::string path);

  Descriptor socket_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

struct TcpListener {
  Descriptor socket;
  std::uint16_t port = 0;  // the one that it got
};

// `address`: an IP address, or "localhost".
[[nodiscard]] Result<TcpListener> open_tcp_listener(const std::string& address, std::uint16_t port);

}  // namespace berth
