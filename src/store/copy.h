// A consistent copy of a database in use, there whole or not at all.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace berth::sql {

enum class Replace : std::uint8_t { kNo, kYes };

// Readable by its owner alone, and on disk when this returns. Writers go on meanwhile; not inside
// a transaction.
[[nodiscard]] Status copy_database(SQLite::Database& database, const std::string& to,
                                   Replace replace);

}  // namespace berth::sql
