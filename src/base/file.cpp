#include "base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace berth {
namespace {

// The name beside `path` that looks most like it, or "".
std::string neighbour(const std::filesystem::path& path) {
  constexpr std::size_t kMostNames = 4096;  // a hint is not worth reading a huge folder
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
    if (names.size() == kMostNames) break;
  }
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(nearest_name(path.filename().string(), views));
}

}  // namespace

Error open_error(const std::string& path, int error_number) {
  if (error_number != ENOENT && error_number != ENOTDIR) {
    return io_error(path, fmt::format("cannot open: {}", std::strerror(error_number)));
  }
  std::string message = "no such file";
  const std::string nearest = neighbour(path);
  if (!nearest.empty()) message += fmt::format("; did you mean '{}'?", printable(nearest));
  return bad_input(path, 0, {}, std::move(message));
}

}  // namespace berth
