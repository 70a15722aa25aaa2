// The tables, and how a store of an older version becomes one of this.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace berth::sql {

// "Bert" in the header of the file: tells a store from any other SQLite file.
inline constexpr std::int64_t kApplicationId = 0x42657274;

// Makes version i+1 of version i (its place in the list); throws as SQLiteCpp does. It runs inside
// a transaction and must not end it.
using Migration = void (*)(SQLite::Database& database);

// From an empty file on; as many as Store::kSchemaVersion.
[[nodiscard]] std::span<const Migration> migrations();

// Whether it is a store (or empty), and not of a newer version than the list makes.
[[nodiscard]] Status check_version(SQLite::Database& database, const std::string& path,
                                   std::span<const Migration> steps);

// Brings an older one to the list's version, all steps or none. What had tables is first copied to
// PATH.vVERSION.
[[nodiscard]] Status migrate(SQLite::Database& database, const std::string& path,
                             std::span<const Migration> steps);

}  // namespace berth::sql
