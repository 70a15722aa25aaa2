#include "store/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

namespace berth {
namespace {

// The stores that this process has open.
class OwnLocks {
 public:
  bool add(const std::string& name) {
    const std::lock_guard<std::mutex> guard(mutex_);
    return names_.insert(name).second;
  }
  void remove(const std::string& name) {
    const std::lock_guard<std::mutex> guard(mutex_);
    names_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

OwnLocks& own_locks() {
  static OwnLocks locks;
  return locks;
}

Error in_use(const std::string& path, long pid) {
  return io_error(path, pid > 0 ? fmt::format("is in use by process {}", pid)
                                : std::string("is in use by another process"));
}

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  std::error_code error;
  const std::string name = std::filesystem::weakly_canonical(path, error).string();
  if (error) return fail(io_error(path, "cannot be opened: " + error.message()));
  // First: to close a second descriptor of the file would give up the lock of the first.
  if (!own_locks().add(name)) return fail(in_use(store_path, ::getpid()));
  StoreLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), name);
  if (lock.fd_ < 0) {
    return fail(io_error(path, fmt::format("cannot be opened: {}", std::strerror(errno))));
  }
  struct flock wanted = whole_file(F_WRLCK);
  if (::fcntl(lock.fd_, F_SETLK, &wanted) == 0) return lock;
  if (errno != EACCES && errno != EAGAIN) {
    return fail(io_error(path, fmt::format("cannot be locked: {}", std::strerror(errno))));
  }
  struct flock holder = whole_file(F_WRLCK);
  const bool known = ::fcntl(lock.fd_, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
  return fail(in_use(store_path, known ? holder.l_pid : 0));
}

StoreLock::~StoreLock() {
  if (fd_ >= 0) ::close(fd_);
  if (!name_.empty()) own_locks().remove(name_);
}

}  // namespace berth
