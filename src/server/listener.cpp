#include "server/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/socket_address.h"

namespace berth {
namespace {

constexpr int kBacklog = 128;

Error system_error(const std::string& name, const char* what) {
  return io_error(name, fmt::format("{}: {}", what, std::strerror(errno)));
}

Fd make_socket(int family) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Makes room for a socket at `path`.
Status clear_stale(const std::string& path, const SocketAddress& address) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return fail(system_error(path, "cannot be looked at"));
  }
  if (!S_ISSOCK(info.st_mode)) return fail(io_error(path, "is there already, and is no socket"));
  const Fd probe = make_socket(AF_UNIX);
  if (::connect(probe.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED) {
    return fail(io_error(path, "another server listens on it"));
  }
  if (::unlink(path.c_str()) != 0) return fail(system_error(path, "cannot be replaced"));
  return {};
}

}  // namespace

UnixListener::UnixListener(Fd socket, std::string path)
    : socket_(std::move(socket)), path_(std::move(path)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return;
  identity_ = identity_of(info);
}

UnixListener::~UnixListener() {
  struct stat info {};
  if (socket_.get() < 0 || ::lstat(path_.c_str(), &info) != 0) return;
  if (identity_of(info) == identity_) ::unlink(path_.c_str());
}

Result<UnixListener> UnixListener::open(const std::string& path, std::uint32_t mode) {
  const auto address = unix_address(path);
  if (!address) {
    return fail(usage_error(fmt::format("'{}' cannot be the path of a socket: from 1 to 107 bytes",
                                        printable(path, 120))));
  }
  BERTH_CHECK_OK(clear_stale(path, *address));
  Fd socket = make_socket(AF_UNIX);
  if (socket.get() < 0) return fail(system_error(path, "no socket"));
  if (::bind(socket.get(), address->get(), address->size) != 0) {
    return fail(system_error(path, "cannot be created"));
  }
  UnixListener listener(std::move(socket), path);
  // Before it listens: nobody connects under another mode.
  if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) {
    return fail(system_error(path, "its mode cannot be set"));
  }
  if (::listen(listener.fd(), kBacklog) != 0) return fail(system_error(path, "cannot listen"));
  return listener;
}

Result<TcpListener> open_tcp_listener(const std::string& address, std::uint16_t port) {
  const std::string name = fmt::format("{}:{}", address, port);
  const auto wanted = tcp_address(address, port);
  if (!wanted) {
    return fail(usage_error(fmt::format("'{}' is no IP address", printable(address))));
  }
  TcpListener listener{.socket = make_socket(wanted->storage.ss_family)};
  const int fd = listener.socket.get();
  if (fd < 0) return fail(system_error(name, "no socket"));
  const int yes = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd, wanted->get(), wanted->size) != 0 || ::listen(fd, kBacklog) != 0) {
    return fail(system_error(name, "cannot listen"));
  }
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) {
    return fail(system_error(name, "has no address"));
  }
  // The port lies at the same place in both families.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  sockaddr_in any{};
  std::memcpy(&any, &bound.storage, sizeof any);
  listener.port = ntohs(any.sin_port);
  return listener;
}

}  // namespace berth
