// Addresses of sockets, as the kernel takes them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace berth {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Nothing: longer than the kernel's limit of 107 bytes, or empty, or with a NUL byte.
[[nodiscard]] std::optional<SocketAddress> unix_address(const std::string& path);
// Nothing: not an IP address nor "localhost".
[[nodiscard]] std::optional<SocketAddress> tcp_address(const std::string& address,
                                                       std::uint16_t port);

}  // namespace berth
