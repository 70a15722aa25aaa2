// The page of a comparison: what was run, in words, and where it is written.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli.h"
#include "report/comparison.h"
#include "run_setup.h"

namespace berth::cli {

// The command that gives these results again, for a shell: what was given and is no default.
[[nodiscard]] std::string command_line(std::string_view command, std::span<const Option> options,
                                       const Args& args);

// Writes DIR/report.html of --report DIR; the folder must be there.
[[nodiscard]] Status write_report(const Args& args, const RunSetup& setup,
                                  const std::string& command, std::size_t seeds,
                                  std::span<const Comparison> tables, bool complete);

}  // namespace berth::cli
