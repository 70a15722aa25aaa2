#include "store/schema.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <array>

#include "store/copy.h"
#include "store/sql.h"
#include "store/store.h"

namespace berth::sql {
namespace {

// What never changes stands apart (spec): an update writes its whole row.
// Numbers come from AUTOINCREMENT, which never gives one again. Statuses below 2 are active.
constexpr const char* kVersion1 = R"sql(
  CREATE TABLE fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE job(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    uid INTEGER NOT NULL, token TEXT NOT NULL,
    submit_unix_us INTEGER NOT NULL, submit_us INTEGER NOT NULL,
    gid INTEGER NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,
    hold INTEGER NOT NULL, cancelled INTEGER NOT NULL, message TEXT NOT NULL,
    end_unix_us INTEGER NOT NULL, stop INTEGER NOT NULL,
    attempts INTEGER NOT NULL, failures INTEGER NOT NULL, losses INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    status INTEGER NOT NULL, preemptions INTEGER NOT NULL, evictions INTEGER NOT NULL,
    tasks_placed INTEGER NOT NULL, first_start_us INTEGER NOT NULL,
    last_start_us INTEGER NOT NULL, last_stop_us INTEGER NOT NULL, last_move_us INTEGER NOT NULL,
    attained_us INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX job_active ON job(number) WHERE status < 2;
  CREATE INDEX job_ended ON job(end_unix_us, number) WHERE status >= 2;
  CREATE INDEX job_status ON job(status, number);
  CREATE INDEX job_uid ON job(uid, number);
  CREATE UNIQUE INDEX job_token ON job(uid, token) WHERE token <> '';
  CREATE TABLE spec(
    job INTEGER PRIMARY KEY REFERENCES job(number) ON DELETE CASCADE,
    json TEXT NOT NULL
  ) STRICT;
  CREATE TABLE attempt(
    job INTEGER NOT NULL REFERENCES job(number) ON DELETE CASCADE,
    attempt INTEGER NOT NULL, phase INTEGER NOT NULL,
    places_json TEXT NOT NULL, stop_reason TEXT NOT NULL,
    pid INTEGER NOT NULL, start_ticks INTEGER NOT NULL, boot_id TEXT NOT NULL,
    intent_unix_us INTEGER NOT NULL, start_unix_us INTEGER NOT NULL, end_unix_us INTEGER NOT NULL,
    end_json TEXT NOT NULL,
    PRIMARY KEY(job, attempt)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attempt_open ON attempt(job, attempt) WHERE phase < 3;
)sql";

constexpr std::array<Migration, Store::kSchemaVersion> kMigrations = {
    [](SQLite::Database& database) { database.exec(kVersion1); },
};

bool has_tables(SQLite::Database& database) {
  return number_of(database, "SELECT count(*) FROM sqlite_schema") > 0;
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}

Status check_version(SQLite::Database& database, const std::string& path,
                     std::span<const Migration> steps) {
  const std::int64_t application = number_of(database, "PRAGMA application_id");
  if (application != kApplicationId && (application != 0 || has_tables(database))) {
    return fail(bad_input(path, 0, {}, "is a SQLite file, but not a store of Berth",
                          fmt::format("application id {}", application),
                          fmt::format("{}", kApplicationId)));
  }
  const std::int64_t version = number_of(database, "PRAGMA user_version");
  if (version < 0 || version > static_cast<std::int64_t>(steps.size())) {
    return fail(bad_input(path, 0, {}, "was written by a newer Berth",
                          fmt::format("schema {}", version),
                          fmt::format("at most {}", steps.size())));
  }
  return {};
}

Status migrate(SQLite::Database& database, const std::string& path,
               std::span<const Migration> steps) {
  BERTH_CHECK_OK(check_version(database, path, steps));
  const auto version = static_cast<std::size_t>(number_of(database, "PRAGMA user_version"));
  if (version == steps.size()) return {};
  if (has_tables(database)) {
    BERTH_CHECK_OK(copy_database(database, fmt::format("{}.v{}", path, version), Replace::kYes));
  }
  return guarded(path, [&]() -> Status {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    for (const Migration step : steps.subspan(version)) step(database);
    database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    database.exec(fmt::format("PRAGMA user_version = {}", steps.size()));
    transaction.commit();
    return {};
  });
}

}  // namespace berth::sql
