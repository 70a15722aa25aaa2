// Compression: what is written comes back, and a stream that is cut or damaged anywhere is an
// error.
#include "trace/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "trace/byte_sink.h"
#include "trace/input.h"

namespace berth::trace {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_all(ByteSource& source) {
  std::string out;
  std::vector<char> block(1000);  // no divisor of the inner block sizes
  while (true) {
    BERTH_TRY(const std::size_t got, source.read(block));
    if (got == 0) return out;
    out.append(block.data(), got);
  }
}

Result<std::string> decode(std::string_view bytes) {
  BERTH_TRY(auto source, memory_source("bytes", bytes));
  return read_all(*source);
}

std::string file_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Compression : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("berth-bytes" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string compressed(std::string_view text) {
    const fs::path path = folder_ / ("t" + GetParam());
    fs::remove(path);
    auto sink = open_sink(path.string());
    EXPECT_TRUE(sink);
    EXPECT_TRUE((*sink)->write(text.substr(0, text.size() / 3)));
    EXPECT_TRUE((*sink)->write(text.substr(text.size() / 3)));
    EXPECT_FALSE(fs::exists(path)) << "the file must not appear before it is whole";
    EXPECT_TRUE((*sink)->finish());
    return file_bytes(path);
  }

  fs::path folder_;
};

std::string sample_text() {
  Rng rng(3);
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(rng.below(1000)) + (i % 9 == 0 ? "\n" : ",");
  return text;
}

TEST_P(Compression, ComesBack) {
  const std::string text = sample_text();
  const auto out = decode(compressed(text));
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(*out, text);
}

TEST_P(Compression, ProgressEndsAtAll) {
  const fs::path path = folder_ / ("p" + GetParam());
  auto sink = open_sink(path.string());
  ASSERT_TRUE(sink);
  const std::string text = sample_text();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE((*sink)->write(text));
  ASSERT_TRUE((*sink)->finish());
  auto input = Input::open(path.string());
  ASSERT_TRUE(input);
  std::string_view line;
  while (input->next_line(line)) {
    ASSERT_GT(input->progress(), 0.0);
    ASSERT_LE(input->progress(), 1.0);
  }
  EXPECT_TRUE(input->status());
  EXPECT_DOUBLE_EQ(input->progress(), 1.0);
}

TEST_P(Compression, TwoStreamsAreOneFile) {
  if (GetParam().empty()) GTEST_SKIP() << "plain text has no streams";
  const auto out = decode(compressed("first\n") + compressed("second\n"));
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(*out, "first\nsecond\n");
}

TEST_P(Compression, CutAnywhereIsAnError) {
  if (GetParam().empty()) GTEST_SKIP() << "plain text has no end of its own";
  const std::string whole = compressed("arrival,gpus\n1,2\n");
  for (std::size_t size = 6; size < whole.size(); ++size) {
    const auto out = decode(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(out) << "cut at " << size;
    EXPECT_EQ(out.error().exit_code(), 2);
  }
}

TEST_P(Compression, RubbishAfterTheEndIsAnError) {
  if (GetParam().empty()) GTEST_SKIP() << "plain text has no end of its own";
  EXPECT_FALSE(decode(compressed("text\n") + "rubbish, long enough to be seen"));
}

TEST_P(Compression, AChangedByteIsNeverReadInSilence) {
  if (GetParam().empty()) GTEST_SKIP() << "plain text has no checksum";
  const std::string text = sample_text();
  const std::string whole = compressed(text);
  Rng rng(5);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    damaged[20 + rng.below(whole.size() - 20)] ^= static_cast<char>(1U << rng.below(8));
    const auto out = decode(damaged);
    if (!out) continue;
    EXPECT_EQ(*out, text);  // a bit that carries nothing
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Compression, testing::Values("", ".gz", ".xz", ".zst"),
                         [](const auto& kind) {
                           return kind.param.empty() ? std::string("plain") : kind.param.substr(1);
                         });

TEST(ByteSource, RefusesABomb) {
  const fs::path path =
      fs::path(testing::TempDir()) / ("bomb" + std::to_string(::getpid()) + ".zst");
  auto sink = open_sink(path.string());
  ASSERT_TRUE(sink);
  const std::string zeros(1U << 20U, '\0');
  for (int i = 0; i < 80; ++i) ASSERT_TRUE((*sink)->write(zeros));
  ASSERT_TRUE((*sink)->finish());
  const auto source = open_source(path.string(), "a trace");
  ASSERT_TRUE(source);
  const auto out = read_all(**source);
  fs::remove(path);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().text().find("expands more than"), std::string::npos) << out.error().text();
}

TEST(ByteSource, ReadsZstandardThatStartsWithASkippableFrame) {
  using namespace std::string_literals;
  const fs::path path =
      fs::path(testing::TempDir()) / ("skip" + std::to_string(::getpid()) + ".zst");
  auto sink = open_sink(path.string());
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->write("a,b\n"));
  ASSERT_TRUE((*sink)->finish());
  const auto out = decode("\x50\x2a\x4d\x18\x04\0\0\0abcd"s + file_bytes(path));
  fs::remove(path);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(*out, "a,b\n");
}

TEST(ByteSource, NamesWhatItCannotRead) {
  EXPECT_NE(decode("BZh9...").error().text().find("bzip2"), std::string::npos);
  EXPECT_NE(decode("PK\x03\x04...").error().text().find("zip"), std::string::npos);
  EXPECT_NE(decode("").error().text().find("the file is empty"), std::string::npos);
  EXPECT_EQ(open_source("/no/such/folder/file.csv", "a trace").error().exit_code(), 2);
}

}  // namespace
}  // namespace berth::trace
