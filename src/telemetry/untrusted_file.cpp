#include "telemetry/untrusted_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace berth::telemetry {
namespace {

std::string kind_fault(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link, which is not followed";
  if (S_ISDIR(mode)) return "a folder, expected a file";
  return "neither a regular file nor a FIFO";
}

}  // namespace

OpenedFile open_untrusted(int folder_fd, const std::string& path, FileKinds kinds,
                          std::optional<std::uint32_t> owner) {
  OpenedFile out;
  // Looked at before it is opened: opening some devices has effects.
  const Fd place(::openat(folder_fd, path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place) {
    if (errno != ENOENT && errno != ENOTDIR) out.fault = std::strerror(errno);
    return out;
  }
  if (::fstat(place.get(), &out.status) != 0) {
    out.fault = std::strerror(errno);
    return out;
  }
  const bool fifo = S_ISFIFO(out.status.st_mode) && kinds == FileKinds::kRegularOrFifo;
  if (!S_ISREG(out.status.st_mode) && !fifo) {
    out.fault = kind_fault(out.status.st_mode);
    return out;
  }
  if (owner && out.status.st_uid != *owner) {
    out.fault =
        fmt::format("a file of user {}, expected one of user {}", out.status.st_uid, *owner);
    return out;
  }
  const std::string itself = fmt::format("/proc/self/fd/{}", place.get());
  out.handle = Fd(::open(itself.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!out.handle) out.fault = std::strerror(errno);
  return out;
}

std::int64_t read_some(int fd, char* out, std::size_t size, std::int64_t offset) {
  while (true) {
    const ssize_t n = offset < 0 ? ::read(fd, out, size) : ::pread(fd, out, size, offset);
    if (n >= 0 || errno != EINTR) return n;
  }
}

}  // namespace berth::telemetry
