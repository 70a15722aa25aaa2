#include "server/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace berth {

std::optional<SocketAddress> unix_address(const std::string& path) {
  sockaddr_un name{};
  if (path.empty() || path.size() >= sizeof name.sun_path) return std::nullopt;
  if (path.find('\0') != std::string::npos) return std::nullopt;
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  SocketAddress address;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  std::memcpy(&address.storage, &name, sizeof name);
  return address;
}

std::optional<SocketAddress> tcp_address(const std::string& address, std::uint16_t port) {
  const std::string text = address == "localhost" ? "127.0.0.1" : address;
  SocketAddress found;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    found.size = sizeof v4;
    std::memcpy(&found.storage, &v4, sizeof v4);
    return found;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    found.size = sizeof v6;
    std::memcpy(&found.storage, &v6, sizeof v6);
    return found;
  }
  return std::nullopt;
}

}  // namespace berth
