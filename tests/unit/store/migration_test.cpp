// Stores of other versions.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"
#include "support/stores.h"
#include "support/temp_folder.h"

namespace berth {
namespace {

// What a version 0 would have looked like, had there been one.
void make_version_0(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(fmt::format("PRAGMA application_id = {}", sql::kApplicationId));
  database.exec("CREATE TABLE old(x); INSERT INTO old VALUES(1), (2), (3)");
}

void first_step(SQLite::Database& database) {
  database.exec("CREATE TABLE middle(x); INSERT INTO middle SELECT x + 10 FROM old");
}
void second_step(SQLite::Database& database) {
  database.exec("DROP TABLE old; ALTER TABLE middle RENAME TO young");
}
void step_that_dies(SQLite::Database& database) {
  database.exec("DROP TABLE old");
  (void)std::raise(SIGKILL);
}
void step_that_fails(SQLite::Database& database) {
  database.exec("DROP TABLE old; CREATE TABLE middle(x)");
}

std::int64_t ask(const std::string& path, const char* query) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  return sql::number_of(database, query);
}

Status migrate_with(const std::string& path, std::span<const sql::Migration> steps) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  return sql::migrate(database, path, steps);
}

TEST(Migration, EachStepInOrderAndACopyBeside) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_version_0(path);
  constexpr std::array<sql::Migration, 2> kSteps = {first_step, second_step};
  const Status status = migrate_with(path, kSteps);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(ask(path, "PRAGMA user_version"), 2);
  EXPECT_EQ(ask(path, "SELECT sum(x) FROM young"), 36);
  EXPECT_EQ(ask(path + ".v0", "SELECT sum(x) FROM old"), 6);
  EXPECT_EQ(ask(path + ".v0", "PRAGMA user_version"), 0);
  // Once is enough.
  std::filesystem::remove(path + ".v0");
  ASSERT_TRUE(migrate_with(path, kSteps));
  EXPECT_FALSE(std::filesystem::exists(path + ".v0"));
}

TEST(Migration, KilledHalfWayLeavesTheOldOne) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_version_0(path);
  const int status = testing::in_child([&] {
    constexpr std::array<sql::Migration, 2> kDeadly = {first_step, step_that_dies};
    return migrate_with(path, kDeadly) ? 0 : 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_EQ(ask(path, "PRAGMA user_version"), 0);
  EXPECT_EQ(ask(path, "SELECT sum(x) FROM old"), 6);
  EXPECT_EQ(ask(path, "SELECT count(*) FROM sqlite_schema"), 1);
  constexpr std::array<sql::Migration, 2> kSteps = {first_step, second_step};
  ASSERT_TRUE(migrate_with(path, kSteps));
  EXPECT_EQ(ask(path, "SELECT sum(x) FROM young"), 36);
}

TEST(Migration, AStepThatFailsLeavesTheOldOne) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_version_0(path);
  constexpr std::array<sql::Migration, 2> kSteps = {first_step, step_that_fails};
  EXPECT_FALSE(migrate_with(path, kSteps));
  EXPECT_EQ(ask(path, "SELECT sum(x) FROM old"), 6);
}

TEST(Migration, OpeningMigratesAVersion0) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_version_0(path);
  {
    auto store = Store::open(path).value();
    EXPECT_EQ(store->add_job({}).value(), 1);
    ASSERT_TRUE(store->commit(Durability::kProcess));
  }
  EXPECT_EQ(ask(path, "PRAGMA user_version"), Store::kSchemaVersion);
  EXPECT_EQ(ask(path + ".v0", "SELECT sum(x) FROM old"), 6);
}

TEST(Migration, ANewerOneIsRefusedAndLeftAlone) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  { auto store = Store::open(path).value(); }
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 2");
  auto store = Store::open(path);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().text().find("newer Berth: found schema 2, expected at most 1"),
            std::string::npos)
      << store.error().text();
  EXPECT_EQ(store.error().exit_code(), 2);
  EXPECT_EQ(ask(path, "PRAGMA user_version"), 2);
  EXPECT_FALSE(backup_store(path, folder.file("copy")));
}

}  // namespace
}  // namespace berth
