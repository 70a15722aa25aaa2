#include "store/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "store/schema.h"
#include "store/sql.h"

namespace berth::sql {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceMs = 2000;  // for somebody who writes with a tool of his own
// What is looked through before the daemon serves; damage further on shows when it is read.
constexpr auto kCheckAfterCrash = std::chrono::milliseconds(2000);
constexpr auto kCheckAfterCleanEnd = std::chrono::milliseconds(250);

// SQLite would create it with the umask's mode; its -wal and -shm take that of the file.
Status create_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    ::close(fd);
    return {};
  }
  if (errno != EEXIST) {
    return fail(io_error(path, fmt::format("cannot be created: {}", std::strerror(errno))));
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return fail(bad_input(path, 0, {}, "is not a store of Berth", "not a regular file"));
  }
  return {};
}

// A clean end leaves no write-ahead log behind.
bool ended_unclean(const std::string& path) {
  struct stat info {};
  return ::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

// SQLite takes what a cut last page lacks for zeros. After a crash that is right: the log has it.
Status check_length(SQLite::Database& database, const std::string& path) {
  struct stat info {};
  const std::int64_t page = number_of(database, "PRAGMA page_size");
  if (::stat(path.c_str(), &info) == 0 && info.st_size % page == 0) return {};
  return fail(error_of(path, SQLite::Exception("a file that was cut short", SQLITE_CORRUPT)));
}

int past_deadline(void* deadline) {
  return Clock::now() > *static_cast<const Clock::time_point*>(deadline) ? 1 : 0;
}

// Looks through the file until it is done or `limit` is over.
Status check(SQLite::Database& database, const std::string& path, Clock::duration limit) {
  constexpr int kStepsBetweenLooks = 10'000;
  Clock::time_point deadline = Clock::now() + limit;
  std::string answer;
  sqlite3_progress_handler(database.getHandle(), kStepsBetweenLooks, past_deadline, &deadline);
  const Status status = guarded(path, [&]() -> Status {
    SQLite::Statement statement(database, "PRAGMA quick_check(1)");
    const int code = statement.tryExecuteStep();
    if (code == SQLITE_ROW) {
      answer = statement.getColumn(0).getString();
    } else if (code != SQLITE_DONE && code != SQLITE_INTERRUPT) {
      throw SQLite::Exception(database.getHandle(), code);
    }
    return {};
  });
  sqlite3_progress_handler(database.getHandle(), 0, nullptr, nullptr);
  BERTH_CHECK_OK(status);
  if (answer.empty() || answer == "ok") return {};
  return fail(error_of(path, SQLite::Exception(answer, SQLITE_CORRUPT)));
}

// The log is on disk when SQLite checkpoints it, and when Store::commit(kPower) says so; between
// these a commit is safe from the death of the process alone.
void configure(SQLite::Database& database, const OpenSettings& settings) {
  for (const char* pragma : {
           "PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON", "PRAGMA trusted_schema = OFF",
           "PRAGMA cell_size_check = ON", "PRAGMA temp_store = MEMORY",
           "PRAGMA cache_size = -4096",            // KiB
           "PRAGMA wal_autocheckpoint = 4000",     // pages: 16 MB
           "PRAGMA journal_size_limit = 67108864"  // what is left of a log that grew
       }) {
    (void)database.tryExec(pragma);
  }
  if (settings.max_pages > 0) {
    (void)database.tryExec(fmt::format("PRAGMA max_page_count = {}", settings.max_pages));
  }
}

}  // namespace

Result<std::unique_ptr<SQLite::Database>> open_database(const std::string& path,
                                                        const OpenSettings& settings) {
  BERTH_CHECK_OK(create_file(path));
  const bool unclean = ended_unclean(path);
  return guarded(path, [&]() -> Result<std::unique_ptr<SQLite::Database>> {
    auto database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE, kPatienceMs);
    configure(*database, settings);
    // Before anything is written: a file that is not ours stays as it is.
    BERTH_CHECK_OK(check_version(*database, path, migrations()));
    if (!unclean) BERTH_CHECK_OK(check_length(*database, path));
    BERTH_CHECK_OK(check(*database, path, unclean ? kCheckAfterCrash : kCheckAfterCleanEnd));
    if (text_of(*database, "PRAGMA journal_mode = WAL") != "wal") {
      return fail(io_error(path, "its file system does not allow a write-ahead log"));
    }
    BERTH_CHECK_OK(migrate(*database, path, migrations()));
    return database;
  });
}

}  // namespace berth::sql
