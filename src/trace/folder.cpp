#include "trace/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "trace/input.h"

namespace berth::trace {
namespace {

constexpr std::size_t kMostFiles = 1000;  // a folder of more is not a trace
constexpr int kWholeHeader = 51;          // header_score says at most 50 where a column is missing

bool has_header(const std::string& path, const TableSpec& spec) {
  const auto input = Input::open(path);
  return input && header_score(input->window(), spec) >= kWholeHeader;
}

}  // namespace

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  while (!error && at != std::filesystem::directory_iterator() && out.size() < kMostFiles) {
    std::error_code unknown;
    if (at->is_regular_file(unknown)) out.push_back(at->path().string());
    at.increment(error);
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> files_with_header(const std::string& folder, const TableSpec& spec) {
  std::vector<std::string> out = files_in(folder);
  std::erase_if(out, [&spec](const std::string& path) { return !has_header(path, spec); });
  return out;
}

Result<std::string> only_file_with_header(const std::string& folder, const TableSpec& spec,
                                          std::string_view what) {
  const std::vector<std::string> files = files_with_header(folder, spec);
  if (files.size() == 1) return files.front();
  std::string columns;
  for (const ColumnSpec& column : spec.columns) {
    if (column.required) columns += (columns.empty() ? "" : ",") + std::string(column.name);
  }
  return fail(bad_input(
      folder, 0, {}, fmt::format("the folder must hold {} once", what),
      files.empty() ? "no such file" : fmt::format("{} and {} more", files[0], files.size() - 1),
      fmt::format("one file with the columns {}, or its own path", columns)));
}

}  // namespace berth::trace
