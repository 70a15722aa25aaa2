#include "commands.h"

namespace berth::cli {

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  return commands;
}

}  // namespace berth::cli
