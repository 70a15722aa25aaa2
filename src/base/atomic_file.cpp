#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace berth {

AtomicFile::AtomicFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  close_fd();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::close_fd() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
  fd_ = -1;
}

Error AtomicFile::error(const char* what) const {
  return io_error(path_, fmt::format("{}: {}", what, std::strerror(errno)));
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path == "-") return AtomicFile("standard output", {}, STDOUT_FILENO);
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return fail(io_error(path, "cannot write: it is a folder"));
  if (exists && !S_ISREG(info.st_mode)) {
    AtomicFile direct(path, {}, ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (direct.fd_ < 0) return fail(direct.error("cannot write"));
    return direct;
  }
  // Behind a symbolic link the file itself is replaced, not the link.
  std::error_code no_matter;
  std::string target = exists ? std::filesystem::canonical(path, no_matter).string() : path;
  if (target.empty()) target = path;
  std::string temporary = target + ".tmp-XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  AtomicFile file(std::move(target), fd < 0 ? std::string{} : std::move(temporary), fd);
  if (fd < 0) return fail(file.error("cannot write"));
  return file;
}

Status AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return fail(error("cannot write"));
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Status AtomicFile::commit() {
  if (temporary_.empty()) {
    close_fd();
    return {};
  }
  if (::fsync(fd_) != 0) return fail(error("cannot write"));
  close_fd();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail(error("cannot write"));
  temporary_.clear();
  return {};
}

}  // namespace berth
