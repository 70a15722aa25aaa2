#include "commands.h"

int main(int argc, char** argv) {
  return berth::cli::run_main(argc, argv, berth::cli::all_commands());
}
