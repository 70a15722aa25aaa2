#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFile = 0600;  // may name users and jobs: its owner decides who else reads it
constexpr mode_t kModeBits = 0777;

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// What is written behind symbolic links: the file itself is replaced, not the link. Also where a
// link leads to no file yet.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  fs::path target = path;
  std::error_code no_matter;
  for (int i = 0; i < kMostLinks && fs::is_symlink(target, no_matter); ++i) {
    target = target.parent_path() / fs::read_symlink(target, no_matter);
  }
  return target.string();
}

// The n-th name to try for a file beside `path`; short, as the file's own name may be as long as
// names can be.
std::string name_beside(const std::string& path, int n) {
  return (fs::path(folder_of(path)) / fmt::format(".berth-{}-{}.tmp", ::getpid(), n)).string();
}

// Calls `make` with names until one is free; the errno of the last try is left.
template <class Make>
std::optional<std::string> with_free_name(const std::string& path, const Make& make) {
  constexpr int kMostTries = 1000;
  for (int n = 0; n < kMostTries; ++n) {
    std::string name = name_beside(path, n);
    if (make(name)) return name;
    if (errno != EEXIST) break;
  }
  return std::nullopt;
}

std::string by_number(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Kind kind, int fd)
    : path_(std::move(path)), kind_(kind), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      kind_(other.kind_),
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

AtomicFile AtomicFile::create_unnamed(const std::string& path) {
  const int fd = ::open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFile);
  AtomicFile file(path, Kind::kUnnamed, fd);
  // Without /proc it could not be given its name later.
  if (fd >= 0 && ::access(by_number(fd).c_str(), F_OK) != 0) file.close_fd();
  return file;
}

AtomicFile AtomicFile::create_beside(const std::string& path) {
  int fd = -1;
  auto name = with_free_name(path, [&](const std::string& candidate) {
    fd = ::open(candidate.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kNewFile);
    return fd >= 0;
  });
  AtomicFile file(path, Kind::kBeside, fd);
  if (name) file.temporary_ = *std::move(name);
  return file;
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path == "-") return AtomicFile("standard output", Kind::kDirect, STDOUT_FILENO);
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) {
    return fail(AtomicFile(path, Kind::kDirect, -1).error("cannot write"));
  }
  if (exists && S_ISDIR(info.st_mode)) return fail(io_error(path, "cannot write: it is a folder"));
  if (exists && !S_ISREG(info.st_mode)) {
    AtomicFile direct(path, Kind::kDirect, ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (direct.fd_ < 0) return fail(direct.error("cannot write"));
    return direct;
  }
  const std::string target = behind_links(path);
  AtomicFile file = create_unnamed(target);
  if (file.fd_ < 0) {
    AtomicFile beside = create_beside(target);
    if (beside.fd_ < 0) return fail(beside.error("cannot write"));
    if (exists) (void)::fchmod(beside.fd_, info.st_mode & kModeBits);
    return beside;
  }
  if (exists) (void)::fchmod(file.fd_, info.st_mode & kModeBits);
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

Status AtomicFile::name_it() {
  const std::string number = by_number(fd_);
  auto name = with_free_name(path_, [&](const std::string& candidate) {
    return ::linkat(AT_FDCWD, number.c_str(), AT_FDCWD, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0;
  });
  if (!name) return fail(error("cannot write"));
  temporary_ = *std::move(name);
  kind_ = Kind::kBeside;
  return {};
}

Status AtomicFile::commit() {
  if (kind_ == Kind::kDirect) {
    close_fd();
    return {};
  }
  if (::fsync(fd_) != 0) return fail(error("cannot write"));
  // A link cannot replace a file: the file gets another name first, for a moment only.
  if (kind_ == Kind::kUnnamed) BERTH_CHECK_OK(name_it());
  close_fd();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail(error("cannot write"));
  temporary_.clear();
  return {};
}

}  // namespace berth
