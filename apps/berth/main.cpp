#include <malloc.h>

#include "backend/local/launcher.h"
#include "commands.h"
#include "console.h"

int main(int argc, char** argv) {
  if (const auto code = berth::local::run_if_launcher(argc, argv)) return *code;
  berth::cli::occupy_standard_files();
  // Arrays of millions of jobs grow and go: keep their pages instead of asking the kernel for fresh
  // ones each time.
  mallopt(M_MMAP_THRESHOLD, 512 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
  return berth::cli::run_main(argc, argv, berth::cli::all_commands());
}
