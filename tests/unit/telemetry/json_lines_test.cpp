#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"
#include "telemetry/progress_line.h"
#include "telemetry/progress_log.h"

namespace berth {
namespace {

void append(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

std::vector<std::int64_t> iterations(ProgressSource& source, std::size_t max_bytes = 1 << 20) {
  std::vector<ProgressPoint> points;
  while (source.poll(points, max_bytes)) {
  }
  std::vector<std::int64_t> out;
  for (const ProgressPoint& point : points) out.push_back(point.iteration);
  return out;
}

using Steps = std::vector<std::int64_t>;

class JsonLines : public ::testing::Test {
 protected:
  testing::TempFolder folder_;
  std::string path_ = folder_.file("p");
  std::unique_ptr<ProgressSource> source_ = follow_json_lines(path_);
};

TEST(ProgressLine, EveryField) {
  ProgressPoint point;
  EXPECT_EQ(
      telemetry::read_progress_line(
          R"({"iteration": 3, "loss": 0.5, "accuracy": 1, "time": 1772445600.5, "lr": []})", point),
      "");
  EXPECT_EQ(point.iteration, 3);
  EXPECT_EQ(point.loss, 0.5);
  EXPECT_EQ(point.accuracy, 1.0);
  EXPECT_EQ(point.unix_us, 1'772'445'600'500'000);
  EXPECT_FALSE(point.diverged);
}

TEST(ProgressLine, NotFiniteIsDiverged) {
  for (const char* line :
       {R"({"iteration": 1, "loss": NaN})", R"({"iteration":1,"loss":-Infinity})",
        R"({"a": "\"NaN", "iteration": 1, "loss": "NaN"})",
        R"({"iteration": 1, "loss": 2, "accuracy": Infinity})"}) {
    ProgressPoint point;
    EXPECT_EQ(telemetry::read_progress_line(line, point), "") << line;
    EXPECT_TRUE(point.diverged) << line;
    EXPECT_FALSE(point.loss || point.accuracy) << line;
  }
}

TEST(ProgressLine, WrongOnesAreDamaged) {
  for (const char* line :
       {"", "1", "[]", "{}", "{\"iteration\": -1}", "{\"iteration\": 1.5}", "{\"iteration\": 1e16}",
        "{\"iteration\": \"1\"}", "{\"iteration\": NaN}", "{\"iteration\": true}",
        "{\"iteration\": 1, \"loss\": \"x\"}", "{\"iteration\": 1, \"accuracy\": 92}",
        "{\"iteration\": 1, \"loss\": 1e999}", "{\"iteration\": 1", "NaN", "\xff"}) {
    ProgressPoint point;
    EXPECT_NE(telemetry::read_progress_line(line, point), "") << line;
  }
  const std::string deep(60'000, '[');
  ProgressPoint point;
  EXPECT_NE(telemetry::read_progress_line(deep, point), "");
}

TEST_F(JsonLines, AppearsAndGrows) {
  EXPECT_EQ(iterations(*source_), Steps());
  append(path_, "{\"iteration\": 1}\n{\"iteration\": 2");
  EXPECT_EQ(iterations(*source_), Steps{1}) << "the rest of a line may still come";
  append(path_, ", \"loss\": 1}\r\n\n{\"iteration\": 3}\n");
  EXPECT_EQ(iterations(*source_), (Steps{2, 3}));
  EXPECT_EQ(source_->issues().damaged, 0);
}

TEST_F(JsonLines, AnyPortionsAreTheSame) {
  for (int i = 0; i < 50; ++i) append(path_, "{\"iteration\": " + std::to_string(i) + "}\n");
  Steps expected(50);
  for (int i = 0; i < 50; ++i) expected[static_cast<std::size_t>(i)] = i;
  for (const std::size_t portion : {1U, 7U, 64U, 1000U}) {
    const auto source = follow_json_lines(path_);
    EXPECT_EQ(iterations(*source, portion), expected) << portion;
  }
}

TEST_F(JsonLines, DamagedLinesAreCountedAndNamed) {
  append(path_, "{\"iteration\": 1}\nrubbish\x01\n{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*source_), (Steps{1, 2}));
  EXPECT_EQ(source_->issues().damaged, 1);
  EXPECT_EQ(source_->issues().last, path_ + ": line 2: no JSON object: found 'rubbish\\x01'");
}

TEST_F(JsonLines, ALineWithoutEndTakesLittle) {
  for (int i = 0; i < 40; ++i) {
    append(path_, std::string(10'000, 'x'));
    EXPECT_EQ(iterations(*source_), Steps());
  }
  append(path_, "\n{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*source_), Steps{2});
  EXPECT_EQ(source_->issues().damaged, 1);
}

TEST_F(JsonLines, AFileThatWasCutOrReplacedIsANewRun) {
  append(path_, "{\"iteration\": 8}\n{\"iteration\": 9}\n");
  EXPECT_EQ(iterations(*source_), (Steps{8, 9}));
  std::filesystem::resize_file(path_, 0);
  append(path_, "{\"iteration\": 5}\n");
  EXPECT_EQ(iterations(*source_), Steps{5});
  append(path_, "{\"iteration\": 6}\n");
  append(folder_.file("new"), "{\"iteration\": 3}\n");
  std::filesystem::rename(folder_.file("new"), path_);
  EXPECT_EQ(iterations(*source_), (Steps{6, 3})) << "the old one to its end first";
}

TEST_F(JsonLines, AFileThatWasWrittenAnewAndIsLongerIsANewRunToo) {
  append(path_, "{\"iteration\": 8}\n");
  EXPECT_EQ(iterations(*source_), Steps{8});
  std::filesystem::resize_file(path_, 0);
  append(path_, "{\"iteration\": 1}\n{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*source_), (Steps{1, 2}));
}

TEST_F(JsonLines, AFifoDoesNotBlock) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(iterations(*source_), Steps());
  append(path_, "{\"iteration\": 1}\n");
  EXPECT_EQ(iterations(*source_), Steps{1});
  append(path_, "{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*source_), Steps{2});
}

TEST_F(JsonLines, WhatIsNoFileIsNotOpened) {
  append(folder_.file("secret"), "{\"iteration\": 1}\n");
  std::filesystem::create_symlink(folder_.file("secret"), path_);
  EXPECT_EQ(iterations(*source_), Steps());
  EXPECT_EQ(iterations(*source_), Steps());
  EXPECT_EQ(source_->issues().damaged, 1) << "said once";
  EXPECT_NE(source_->issues().last.find("symbolic link"), std::string::npos);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(iterations(*source_), Steps());
  EXPECT_NE(source_->issues().last.find("a folder"), std::string::npos);
  std::filesystem::remove(path_);
  append(path_, "{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*source_), Steps{2});
}

TEST_F(JsonLines, DevicesAreNotOpened) {
  const auto source = follow_json_lines("/dev/zero");
  EXPECT_EQ(iterations(*source), Steps());
  EXPECT_NE(source->issues().last.find("neither a regular file"), std::string::npos);
}

TEST_F(JsonLines, OnlyItsOwnersFile) {
  append(path_, "{\"iteration\": 2}\n");
  EXPECT_EQ(iterations(*follow_json_lines(path_, ::geteuid())), Steps{2});
  const auto other = follow_json_lines(path_, ::geteuid() + 1);
  EXPECT_EQ(iterations(*other), Steps());
  EXPECT_NE(other->issues().last.find("a file of user"), std::string::npos);
}

}  // namespace
}  // namespace berth
