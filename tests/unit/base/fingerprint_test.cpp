#include "base/fingerprint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace berth {
namespace {

TEST(Fingerprint, LengthsAndOrderCount) {
  const auto of = [](const std::vector<std::string>& texts) {
    Fingerprint out;
    for (const std::string& text : texts) out.add(text);
    return out.hex();
  };
  EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({"ab", "c"}), of({"c", "ab"}));
  EXPECT_NE(of({std::string(1, '\0')}), of({std::string(2, '\0')}));
  EXPECT_NE(of({}), of({""}));
  EXPECT_EQ(of({"berth"}).size(), 32U);
}

TEST(Fingerprint, OfAFolderAreItsNamesAndBytes) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("fingerprint" + std::to_string(::getpid()));
  fs::create_directories(folder / "below");
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  const auto hex = [&] {
    Fingerprint out;
    EXPECT_TRUE(out.add_file(folder.string()));
    return out.hex();
  };
  write("b", std::string(200'000, 'x'));
  write("below/a", "1");
  const std::string before = hex();
  EXPECT_EQ(hex(), before);
  write("below/a", "2");
  const std::string changed = hex();
  EXPECT_NE(changed, before);
  fs::rename(folder / "below/a", folder / "below/c");
  EXPECT_NE(hex(), changed);
  write("b", std::string(200'001, 'x'));
  EXPECT_NE(hex(), changed);
  fs::remove_all(folder);
  Fingerprint of_nothing;
  const Status missing = of_nothing.add_file(folder.string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit_code(), 2);
}

}  // namespace
}  // namespace berth
