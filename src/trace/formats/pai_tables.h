// The PAI tables once they are open, for readers that have them in memory.
#pragma once

#include <optional>
#include <string>

#include "trace/registry.h"

namespace berth::trace {

struct PaiTable {
  Input* input = nullptr;
  std::optional<std::string> header;  // column names from beside the table; else its first line
};

// Errors: column names that are missing or wrong. Input::status is the caller's to ask.
[[nodiscard]] Status read_pai_tables(ReadContext& context, const PaiTable& jobs,
                                     const PaiTable& tasks);

}  // namespace berth::trace
