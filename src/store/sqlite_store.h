// The Store over SQLite, with what only tests set.
#pragma once

#include <memory>
#include <string>

#include "store/database.h"
#include "store/store.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                               const sql::OpenSettings& settings);

}  // namespace berth
