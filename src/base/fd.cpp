#include "base/fd.h"

#include <fcntl.h>

#include <algorithm>

namespace berth {

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

std::optional<std::string> read_whole(int fd, std::size_t max_bytes) {
  constexpr std::size_t kFirst = 4096;
  std::string out;
  std::size_t filled = 0;
  while (filled < max_bytes) {
    if (filled == out.size()) {
      out.resize(std::min(max_bytes, std::max(kFirst, out.size() * 2)));
    }
    const ssize_t got = ::read(fd, out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  out.resize(filled);
  return out;
}

std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  return read_whole(fd.get(), max_bytes);
}

}  // namespace berth
