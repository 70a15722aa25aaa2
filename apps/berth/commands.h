// Every command: one line here, one file each.
#pragma once

#include <vector>

#include "cli.h"

namespace berth::cli {

[[nodiscard]] std::vector<Command> all_commands();

}  // namespace berth::cli
