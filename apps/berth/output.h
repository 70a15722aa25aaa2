// Results where the user asked for them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli.h"

namespace berth::cli {

// A file appears whole or not at all; "-" is standard output.
[[nodiscard]] Status write_output(const std::string& path, std::string_view content);

// The one name of a file that may be named in several ways, whether or not it is there.
[[nodiscard]] std::string whole_path(const std::string& path);

// Of the options named, which tell where to write: no two may name one file, and each must be
// writable. Asked before a long run, so that its result is not lost for a wrong name.
[[nodiscard]] Status check_outputs(const Args& args, std::span<const std::string_view> options);
// Whether one of them takes standard output, which then holds nothing else.
[[nodiscard]] bool any_on_stdout(const Args& args, std::span<const std::string_view> options);

}  // namespace berth::cli
