// Sockets that listen.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/file_identity.h"
#include "base/result.h"

namespace berth {

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
  UnixListener(Fd socket, std::string path);

  Fd socket_;
  std::string path_;
  FileIdentity identity_;
};

struct TcpListener {
  Fd socket;
  std::uint16_t port = 0;  // the one that it got
};

// `address`: an IP address, or "localhost".
[[nodiscard]] Result<TcpListener> open_tcp_listener(const std::string& address, std::uint16_t port);

}  // namespace berth
