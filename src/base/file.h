// Words for files that cannot be opened.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

// Why `path` could not be opened, from errno. A missing file is wrong use (exit 2) and names the
// nearest file in the same folder.
[[nodiscard]] Error open_error(const std::string& path, int error_number);

}  // namespace berth
