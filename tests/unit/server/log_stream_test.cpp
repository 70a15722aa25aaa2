#include "server/log_stream.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "support/temp_folder.h"

namespace berth {
namespace {

class LogStreamTest : public ::testing::Test {
 protected:
  // Of task 0 of a run, as the local backend names it.
  [[nodiscard]] std::string path(std::uint32_t attempt, std::string_view name) const {
    return folder_.file("job." + std::to_string(attempt)) + "/0." + std::string(name);
  }
  void print(std::uint32_t attempt, std::string_view name, std::string_view text) {
    std::filesystem::create_directories(folder_.file("job." + std::to_string(attempt)));
    std::ofstream(path(attempt, name), std::ios::app) << text;
  }
  void put_aside(std::uint32_t attempt, std::string_view name) {
    std::filesystem::rename(path(attempt, name), path(attempt, name) + ".1");
  }
  [[nodiscard]] LogQuery query() const {
    return {.folder = [this](std::uint32_t attempt) {
      return folder_.file("job." + std::to_string(attempt));
    }};
  }
  [[nodiscard]] LogQuery followed() const {
    LogQuery out = query();
    out.now = [this] { return now_; };
    return out;
  }
  // All that a stream has to say, in pieces of a few bytes.
  static std::string all(LogQuery query, std::size_t piece = 3) {
    auto stream = log_stream(std::move(query));
    if (!stream) return stream.error().text();
    std::string out;
    while ((*stream)->read(out, piece)) {
    }
    return out;
  }

  testing::TempFolder folder_;
  LogMoment now_{.attempt = 1, .goes_on = true};
};

TEST_F(LogStreamTest, SaysWhichIsWhichWhereBothHavePrinted) {
  EXPECT_EQ(all(query()), "");
  print(1, "out", "one\ntwo");
  EXPECT_EQ(all(query()), "one\ntwo");
  print(1, "err", "three\n");
  EXPECT_EQ(all(query()), "one\ntwo\n==> standard error <==\nthree\n");
  LogQuery one = query();
  one.out = false;
  EXPECT_EQ(all(one), "three\n");
  std::swap(one.out, one.err);
  EXPECT_EQ(all(one), "one\ntwo");
}

TEST_F(LogStreamTest, OnlyStandardErrorIsNamedToo) {
  print(1, "err", "x\n");
  EXPECT_EQ(all(query()), "==> standard error <==\nx\n");
}

TEST_F(LogStreamTest, FollowsBothAsTheyCome) {
  const auto stream = *log_stream(followed());
  std::string text;
  EXPECT_TRUE(stream->read(text, 1'000));
  EXPECT_EQ(text, "");
  print(1, "err", "a\n");
  EXPECT_TRUE(stream->read(text, 1'000));
  print(1, "out", "b");
  EXPECT_TRUE(stream->read(text, 1'000));
  print(1, "out", "c");
  print(1, "err", "d\n");
  EXPECT_TRUE(stream->read(text, 1'000));
  now_.goes_on = false;
  EXPECT_FALSE(stream->read(text, 1'000));
  EXPECT_EQ(text,
            "==> standard error <==\na\n==> standard output <==\nbc\n==> standard error <==\nd\n");
}

TEST_F(LogStreamTest, FollowsFromRunToRun) {
  now_.attempt = 0;
  LogQuery from_the_start = followed();
  from_the_start.attempt = 0;
  const auto stream = *log_stream(from_the_start);
  std::string text;
  EXPECT_TRUE(stream->read(text, 1'000));
  now_.attempt = 1;
  print(1, "out", "first");
  EXPECT_TRUE(stream->read(text, 1'000));
  // The end of one run, a whole run, and the next, between two looks.
  print(1, "err", "failed\n");
  print(3, "out", "third\n");
  now_.attempt = 3;
  EXPECT_TRUE(stream->read(text, 1'000));
  now_.goes_on = false;
  EXPECT_FALSE(stream->read(text, 1'000));
  EXPECT_EQ(text, "first\n==> standard error <==\nfailed\n==> run 2 <==\n==> run 3 <==\nthird\n");
}

TEST_F(LogStreamTest, OneStreamIsBytesAloneFromRunToRun) {
  print(1, "out", "a");
  print(2, "out", "b");
  now_ = {.attempt = 2};
  LogQuery out = followed();
  out.err = false;
  EXPECT_EQ(all(out), "ab");
}

TEST_F(LogStreamTest, TailCountsLinesOfEachStream) {
  const auto tail = [&](std::int64_t lines) {
    LogQuery out = query();
    out.tail_lines = lines;
    return all(out);
  };
  print(1, "out", "1\n2\n3\n4\n");
  print(1, "err", "5\n6\n7");
  EXPECT_EQ(tail(2), "3\n4\n==> standard error <==\n6\n7");
  EXPECT_EQ(tail(1), "4\n==> standard error <==\n7");
  EXPECT_EQ(tail(0), "");
  EXPECT_EQ(tail(99), all(query()));
}

TEST_F(LogStreamTest, TailLooksThroughRotationAndLargeBlocks) {
  const std::string longer(100'000, 'x');
  print(1, "out", "lost\nkept " + longer + "\nhal");
  put_aside(1, "out");
  print(1, "out", "ved\n");
  LogQuery out = query();
  out.tail_lines = 2;
  EXPECT_EQ(all(out, 10'000), "kept " + longer + "\nhalved\n");
  out.tail_lines = 1;
  EXPECT_EQ(all(out), "halved\n");
}

TEST_F(LogStreamTest, FollowsATailThroughRotation) {
  print(1, "out", "one\ntwo\n");
  LogQuery tail = followed();
  tail.tail_lines = 1;
  const auto stream = *log_stream(tail);
  std::string text;
  EXPECT_TRUE(stream->read(text, 1'000));
  print(1, "out", "three\n");
  put_aside(1, "out");
  print(1, "out", "four\n");
  EXPECT_TRUE(stream->read(text, 1'000));
  EXPECT_EQ(text, "two\nthree\nfour\n");
}

// What grows while it is read is not read for ever by who asked for what is there.
TEST_F(LogStreamTest, WithoutFollowingItEndsWhereItWas) {
  print(1, "out", "one\n");
  const auto stream = *log_stream(query());
  print(1, "out", "two\n");
  std::string text;
  EXPECT_FALSE(stream->read(text, 1'000));
  EXPECT_EQ(text, "one\n");
}

TEST_F(LogStreamTest, ABusyStreamLeavesTheOtherItsTurn) {
  print(1, "out", std::string(6 << 20, 'x'));
  print(1, "err", "waits\n");
  const auto stream = *log_stream(followed());
  std::string text;
  while (text.size() < (5 << 20)) ASSERT_TRUE(stream->read(text, 64 << 10));
  EXPECT_NE(text.find("waits\n"), std::string::npos);
}

TEST_F(LogStreamTest, OnlyPlainFiles) {
  print(1, "out", "x");
  std::filesystem::create_symlink("/etc/passwd", path(1, "err"));
  EXPECT_FALSE(log_stream(query()));
  LogQuery out = query();
  out.err = false;
  EXPECT_EQ(all(out), "x");
}

}  // namespace
}  // namespace berth
