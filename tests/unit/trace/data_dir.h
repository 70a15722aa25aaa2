// Where the real data sets lie: BERTH_DATA_DIR, by default ../shared/data beside the repository.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace berth::test {

inline std::string data_file(const std::string& name) {
  const char* folder = std::getenv("BERTH_DATA_DIR");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder)
                        : std::filesystem::path(BERTH_SOURCE_DIR) / "../shared/data";
  return (root / name).string();
}

inline bool data_is_required() {
  const char* value = std::getenv("BERTH_REQUIRE_DATA");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace berth::test

// Defines `variable` as the path of a data file; skips the test where it is absent, or fails it
// with BERTH_REQUIRE_DATA=1.
#define BERTH_REQUIRE_DATA_FILE(variable, name)                                 \
  const std::string variable = ::berth::test::data_file(name);                  \
  if (!std::filesystem::exists(variable)) {                                     \
    if (::berth::test::data_is_required()) FAIL() << variable << " is missing"; \
    GTEST_SKIP() << variable << " is missing (see BERTH_DATA_DIR)";             \
  }                                                                             \
  static_assert(true, "needs a semicolon")
