// Traces that are folders: finding the file that is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/table.h"

namespace berth::trace {

// Regular files directly in the folder, sorted by name; empty if it cannot be listed.
[[nodiscard]] std::vector<std::string> files_in(const std::string& folder);

// Those whose first line has the columns that the table requires. Files that cannot be read do not.
[[nodiscard]] std::vector<std::string> files_with_header(const std::string& folder,
                                                         const TableSpec& spec);

// The one such file. Errors: none or several. `what` is for the message: "a list of pods".
[[nodiscard]] Result<std::string> only_file_with_header(const std::string& folder,
                                                        const TableSpec& spec,
                                                        std::string_view what);

}  // namespace berth::trace
