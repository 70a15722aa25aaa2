#include "store/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"

namespace berth {
namespace sql {
namespace {

Error system_error(const std::string& path, const char* what) {
  return io_error(path, fmt::format("{}: {}", what, std::strerror(errno)));
}

// Removed unless it gets its name.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status create_empty(const std::string& path) {
  ::unlink(path.c_str());  // of a copy that was killed
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail(system_error(path, "cannot be created"));
  ::close(fd);
  return {};
}

Status sync(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(system_error(path, "cannot be opened"));
  const bool synced = ::fsync(fd) == 0;
  const Error error = system_error(path, "cannot be written to disk");
  ::close(fd);
  if (!synced) return fail(error);
  return {};
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

Status copy_database(SQLite::Database& database, const std::string& to, Replace replace) {
  const Temporary temporary(to + ".part");
  BERTH_CHECK_OK(create_empty(temporary.path()));
  BERTH_CHECK_OK(guarded(to, [&]() -> Status {
    SQLite::Statement vacuum(database, "VACUUM INTO ?1");
    Use(vacuum).bind(temporary.path()).run();
    return {};
  }));
  BERTH_CHECK_OK(sync(temporary.path(), 0));
  // link() never replaces; the temporary name goes with `temporary`.
  const int named = replace == Replace::kYes ? ::rename(temporary.path().c_str(), to.c_str())
                                             : ::link(temporary.path().c_str(), to.c_str());
  if (named != 0) return fail(system_error(to, "cannot be named"));
  return sync(folder_of(to), O_DIRECTORY);
}

}  // namespace sql

Status backup_store(const std::string& from, const std::string& to) {
  struct stat info {};
  if (::stat(from.c_str(), &info) != 0) return fail(open_error(from, errno));
  if (!S_ISREG(info.st_mode)) return fail(bad_input(from, 0, {}, "is not a store of Berth"));
  if (::lstat(to.c_str(), &info) == 0) {
    return fail(usage_error(fmt::format("{}: is there already", to)));
  }
  constexpr int kPatienceMs = 5000;
  return sql::guarded(from, [&]() -> Status {
    SQLite::Database database(from, SQLite::OPEN_READONLY, kPatienceMs);
    BERTH_CHECK_OK(sql::check_version(database, from, sql::migrations()));
    if (sql::number_of(database, "SELECT count(*) FROM sqlite_schema") == 0) {
      return fail(bad_input(from, 0, {}, "is not a store of Berth", "an empty database"));
    }
    return sql::copy_database(database, to, sql::Replace::kNo);
  });
}

}  // namespace berth
