#include "output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/atomic_file.h"

namespace berth::cli {

Status write_output(const std::string& path, std::string_view content) {
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  BERTH_CHECK_OK(file.write(content));
  return file.commit();
}

std::string whole_path(const std::string& path) {
  std::error_code no_matter;
  const std::string whole =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, no_matter), no_matter)
          .string();
  return whole.empty() ? path : whole;
}

Status check_outputs(const Args& args, std::span<const std::string_view> options) {
  std::map<std::string, std::string_view> taken;  // by path
  for (const std::string_view option : options) {
    if (!args.has(option)) continue;
    const std::string path = args.text(option);
    std::error_code no_matter;
    const auto status = std::filesystem::status(path, no_matter);
    const bool special = path != "-" && std::filesystem::exists(status) &&
                         !std::filesystem::is_regular_file(status) &&
                         !std::filesystem::is_directory(status);
    if (special) continue;  // a pipe or a device: opening it is heard at the other end
    const auto [first, fresh] = taken.emplace(path == "-" ? path : whole_path(path), option);
    if (!fresh) {
      Error error =
          usage_error(fmt::format("the same file as {}", first->second), std::string(option));
      error.found = fmt::format("'{}'", path);
      return fail(std::move(error));
    }
    if (path == "-") continue;
    BERTH_TRY(const AtomicFile probe, AtomicFile::create(path));  // gone again at the brace
  }
  return {};
}

bool any_on_stdout(const Args& args, std::span<const std::string_view> options) {
  return std::any_of(options.begin(), options.end(),
                     [&](std::string_view option) { return args.text(option) == "-"; });
}

}  // namespace berth::cli
