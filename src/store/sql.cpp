#include "store/sql.h"

#include <SQLiteCpp/Column.h>
#include <fmt/format.h>
#include <sqlite3.h>

namespace berth::sql {

Error error_of(const std::string& path, const SQLite::Exception& exception) {
  switch (exception.getErrorCode()) {
    case SQLITE_FULL:
      return io_error(path, "no space left: the open batch is not written");
    case SQLITE_CORRUPT:
      return bad_input(path, 0, {}, "is damaged; restore a copy made by 'berth backup'",
                       exception.what());
    case SQLITE_NOTADB:
      return bad_input(path, 0, {}, "is not a store of Berth", exception.what());
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return io_error(path, "another process is writing to it");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return io_error(path, "may not be written: it, its folder or the file system is read-only");
    case SQLITE_CANTOPEN:
      return io_error(path, "cannot be opened: its folder must exist and be writable");
    case SQLITE_TOOBIG:
      return bad_input(path, 0, {}, "a text is too large to be stored");
    case SQLITE_CONSTRAINT:
      return internal_error(fmt::format("{}: {}", path, exception.what()));
    default:
      return io_error(path, fmt::format("SQLite says: {}", exception.what()));
  }
}

std::int64_t number_of(SQLite::Database& database, const char* query) {
  return database.execAndGet(query).getInt64();
}

std::string text_of(SQLite::Database& database, const char* query) {
  return database.execAndGet(query).getString();
}

void Use::throw_damaged() {
  throw SQLite::Exception("a value that no version of Berth writes", SQLITE_CORRUPT);
}

}  // namespace berth::sql
