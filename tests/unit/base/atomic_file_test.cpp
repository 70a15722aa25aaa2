#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace berth {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "berth-atomic-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static void put(const std::string& path, std::string_view text) {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_TRUE(file->write(text));
    const Status status = file->commit();
    ASSERT_TRUE(status) << status.error().text();
  }
  static std::string get(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 0777U;
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, NothingIsSeenBeforeItIsWhole) {
  put(at("a"), "old");
  {
    auto file = AtomicFile::create(at("a"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
    EXPECT_EQ(get(at("a")), "old");
  }
  EXPECT_EQ(get(at("a")), "old");
  EXPECT_EQ(files(), 1U);
  put(at("a"), "new");
  EXPECT_EQ(get(at("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, ModeOfTheFileReplacedElseTheOwnersAlone) {
  const mode_t before = ::umask(0);
  put(at("new"), "x");
  ::umask(before);
  EXPECT_EQ(mode_of(at("new")), 0600U);
  ASSERT_EQ(::chmod(at("new").c_str(), 0640), 0);
  put(at("new"), "y");
  EXPECT_EQ(mode_of(at("new")), 0640U);
}

TEST_F(AtomicFileTest, BehindLinksTheFileIsReplaced) {
  put(at("file"), "x");
  fs::create_symlink("file", at("link"));
  put(at("link"), "y");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(get(at("file")), "y");
  fs::create_symlink("not-yet", at("dangling"));
  put(at("dangling"), "z");
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_EQ(get(at("not-yet")), "z");
}

TEST_F(AtomicFileTest, LongestNames) {
  put(at(std::string(255, 'n')), "x");
  put(at(std::string(255, 'n')), "y");
  EXPECT_EQ(get(at(std::string(255, 'n'))), "y");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, WhatCannotBeWrittenIsToldAtOnce) {
  fs::create_directory(at("folder"));
  fs::create_symlink("loop", at("loop"));
  put(at("file"), "x");
  for (const std::string& path : {at("folder"), at("folder/"), at("absent/x"), at("file/x"),
                                  at("loop"), at(std::string(256, 'n'))}) {
    const auto file = AtomicFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().exit_code(), 1) << path;
  }
}

}  // namespace
}  // namespace berth
