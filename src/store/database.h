// Opening the database of a store: created, checked, migrated and set up.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace berth::sql {

struct OpenSettings {
  std::int64_t max_pages = 0;  // of the file, then it is full; 0: as the disk allows
};

[[nodiscard]] Result<std::unique_ptr<SQLite::Database>> open_database(const std::string& path,
                                                                      const OpenSettings& settings);

}  // namespace berth::sql
