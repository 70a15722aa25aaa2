#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "support/event_files.h"
#include "support/temp_folder.h"
#include "telemetry/event_file.h"
#include "telemetry/progress_log.h"
#include "telemetry/scalar_name.h"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::scalar_record;
using Curve = std::map<std::int64_t, double>;

const std::string kName = "events.out.tfevents.1772445600.hosta.100.0";

class Tensorboard : public ::testing::Test {
 protected:
  void append(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
  }
  void copy_case(const std::string& name) const {
    fs::copy(fs::path(BERTH_SOURCE_DIR) / "tests/cases/tensorboard" / name / kName,
             folder_.path() / kName);
  }
  void poll(std::size_t max_bytes = 1 << 20) {
    points_.clear();
    while (source_->poll(points_, max_bytes)) {
    }
    for (const ProgressPoint& point : points_) curve_.add(point);
  }
  [[nodiscard]] Curve losses() const {
    Curve out;
    for (const ProgressPoint& point : curve_.points()) {
      if (point.loss) out[point.iteration] = *point.loss;
    }
    return out;
  }
  [[nodiscard]] Curve accuracies() const {
    Curve out;
    for (const ProgressPoint& point : curve_.points()) {
      if (point.accuracy) out[point.iteration] = *point.accuracy;
    }
    return out;
  }

  testing::TempFolder folder_;
  std::unique_ptr<ProgressSource> source_ = follow_tensorboard(folder_.path().string());
  std::vector<ProgressPoint> points_;
  ProgressCurve curve_;
};

TEST_F(Tensorboard, TB02ACutRecordIsPending) {
  copy_case("TB02");
  poll();
  EXPECT_EQ(points_.size(), 3U);
  EXPECT_EQ(losses(), (Curve{{0, 2.0}, {1, 1.0}, {2, 2.0F / 3.0F}}));
  EXPECT_EQ(points_.front().unix_us, 1'772'445'600'000'000);
  append(kName, std::string("\x15\x00\x00\x00\x3f\xc0\x2d\xbe\x40", 9));
  poll();
  EXPECT_EQ(points_.size(), 1U) << "without starting over";
  EXPECT_EQ(losses()[3], 0.5);
  EXPECT_EQ(source_->issues().damaged, 0);
}

TEST_F(Tensorboard, TB04ABadLengthEndsItsFileOnly) {
  copy_case("TB04");
  append("other/" + kName, scalar_record(9, "loss", 0.25));
  poll();
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 2.0}, {9, 0.25}}));
  EXPECT_EQ(source_->issues().damaged, 1);
  EXPECT_NE(source_->issues().last.find(kName + ": byte 80: a length"), std::string::npos)
      << source_->issues().last;
}

TEST_F(Tensorboard, TB07StepsThatGoBackAreDoneAnew) {
  copy_case("TB07");
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 10}, {1, 9}, {2, 4}, {3, 3}}));
  EXPECT_EQ(source_->issues().damaged, 0);
}

TEST_F(Tensorboard, TB09DivergedAndAbsurd) {
  copy_case("TB09");
  poll();
  EXPECT_EQ(losses(), (Curve{{2, 1.0}}));
  EXPECT_TRUE(curve_.points()[0].diverged && curve_.points()[1].diverged);
  EXPECT_EQ(curve_.last_iteration(), 2);
  EXPECT_EQ(source_->issues().damaged, 1);
  EXPECT_EQ(source_->issues().ignored, 2) << "step -1 and step 2^62";
}

// Two writers take turns, and their clocks do not agree (tensorflow/tensorboard#5958).
TEST_F(Tensorboard, TwoWritersKeepAllTheirSteps) {
  for (const bool a_first : {true, false}) {
    const testing::TempFolder folder;
    const auto source = follow_tensorboard(folder.path().string());
    const std::string a = folder.file(kName);
    const std::string b = folder.file("events.out.tfevents.1772445601.hostb.200.0");
    ProgressCurve curve;
    Curve expected;
    for (int i = 0; i < 10; ++i) {
      const bool to_a = (i % 2 == 0) == a_first;
      std::ofstream(to_a ? a : b, std::ios::app | std::ios::binary)
          << test::event_record(test::scalar_event(1.7e9 - 100.0 * i, i, "train/loss", 10 - i));
      expected[i] = 10 - i;
      if (i % 3 != 0) continue;  // sometimes several steps a poll
      std::vector<ProgressPoint> points;
      while (source->poll(points, 1 << 20)) {
      }
      for (const ProgressPoint& point : points) curve.add(point);
    }
    Curve got;
    for (const ProgressPoint& point : curve.points()) got[point.iteration] = point.loss.value();
    EXPECT_EQ(got, expected);
  }
}

TEST_F(Tensorboard, EveryFormOfAScalar) {
  using test::ScalarForm;
  int step = 0;
  for (const ScalarForm form : {ScalarForm::kSimple, ScalarForm::kTensorFloat,
                                ScalarForm::kTensorDouble, ScalarForm::kTensorContent}) {
    append(kName, test::event_record(test::scalar_event(0, step++, "loss", 0.75, form)));
  }
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 0.75}, {1, 0.75}, {2, 0.75}, {3, 0.75}}));
  EXPECT_EQ(points_.front().unix_us, std::nullopt) << "no clock says 1970";
}

TEST_F(Tensorboard, ADamagedRecordIsPassedOver) {
  std::string record = scalar_record(1, "loss", 1.0);
  record[20] = static_cast<char>(record[20] ^ 1);
  append(kName, scalar_record(0, "loss", 2.0) + record + scalar_record(2, "loss", 0.5));
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 2.0}, {2, 0.5}}));
  EXPECT_EQ(source_->issues().damaged, 1);
}

TEST_F(Tensorboard, LongRecordsArePassedOverUnread) {
  const std::string picture = test::event_record(std::string(3 << 20, 'x'));
  append(kName, scalar_record(0, "loss", 2.0) + picture.substr(0, 1 << 20));
  poll();
  append(kName, picture.substr(1 << 20) + scalar_record(1, "loss", 1.0));
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 2.0}, {1, 1.0}}));
  EXPECT_EQ(source_->issues().damaged, 0);
}

TEST_F(Tensorboard, RecordsLongerThanAChunk) {
  const std::string text =
      test::event_record(test::scalar_event(0, 0, "text", 1) + std::string("\x4A\x80\x80\x10", 4) +
                         std::string(0x40000, 'x'));
  append(kName, text + scalar_record(1, "loss", 1.0));
  for (const std::size_t portion : {1U, 1000U, 1U << 20U}) {
    source_ = follow_tensorboard(folder_.path().string());
    curve_ = ProgressCurve();
    poll(portion);
    EXPECT_EQ(losses(), (Curve{{1, 1.0}})) << portion;
    EXPECT_EQ(source_->issues().damaged, 0);
  }
}

TEST_F(Tensorboard, AReplacedFileIsReadAnew) {
  append(kName, scalar_record(0, "loss", 2.0) + scalar_record(1, "loss", 1.0));
  poll();
  fs::remove(folder_.path() / kName);
  append(kName, scalar_record(0, "loss", 3.0));
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 3.0}}));
}

TEST_F(Tensorboard, OneLossAndOneAccuracyAreMeant) {
  append("train/" + kName, scalar_record(0, "epoch_loss", 1.0) +
                               scalar_record(0, "epoch_accuracy", 0.5) +
                               scalar_record(0, "discriminator/loss", 9.0));
  append("validation/" + kName,
         scalar_record(0, "epoch_loss", 2.0) + scalar_record(0, "epoch_accuracy", 0.25));
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 1.0}}));
  EXPECT_EQ(accuracies(), (Curve{{0, 0.25}}));
}

TEST_F(Tensorboard, PercentIsNoAccuracy) {
  append(kName, scalar_record(0, "accuracy", 92));
  poll();
  EXPECT_EQ(accuracies(), Curve());
  EXPECT_EQ(source_->issues().ignored, 1);
}

TEST_F(Tensorboard, LinksAreNotFollowed) {
  const testing::TempFolder other;
  std::ofstream(other.file(kName), std::ios::binary) << scalar_record(0, "loss", 1.0);
  fs::create_symlink(other.path(), folder_.path() / "sub");
  fs::create_symlink(other.file(kName), folder_.path() / kName);
  poll();
  EXPECT_EQ(losses(), Curve());
}

TEST_F(Tensorboard, OnlyItsOwnersFiles) {
  append(kName, scalar_record(0, "loss", 1.0));
  source_ = follow_tensorboard(folder_.path().string(), ::geteuid() + 1);
  poll();
  EXPECT_EQ(losses(), Curve());
  source_ = follow_tensorboard(folder_.path().string(), ::geteuid());
  poll();
  EXPECT_EQ(losses(), (Curve{{0, 1.0}}));
}

TEST_F(Tensorboard, OneFileDoesNotKeepTheOthersWaiting) {
  std::string much;
  for (int i = 0; i < 5000; ++i) much += scalar_record(i, "loss", 1.0);
  append("a." + kName, much);
  append("b." + kName, scalar_record(9999, "loss", 0.5));
  EXPECT_TRUE(source_->poll(points_, 70'000));
  append("a." + kName, much);
  EXPECT_TRUE(source_->poll(points_, 70'000));
  EXPECT_NE(std::find_if(points_.begin(), points_.end(),
                         [](const ProgressPoint& point) { return point.iteration == 9999; }),
            points_.end());
}

TEST(ScalarName, Words) {
  using telemetry::scalar_name;
  using telemetry::ScalarKind;
  for (const char* tag : {"loss", "Loss", "train/loss", "train_loss", "Loss/train", "epoch_loss",
                          "val/loss", "train/total_loss", "training loss", "batch_loss"}) {
    EXPECT_EQ(scalar_name(tag, false).kind, ScalarKind::kLoss) << tag;
  }
  for (const char* tag : {"accuracy", "acc", "val/acc", "val_accuracy", "Accuracy/test",
                          "epoch_sparse_categorical_accuracy", "eval/accuracy"}) {
    EXPECT_EQ(scalar_name(tag, false).kind, ScalarKind::kAccuracy) << tag;
  }
  for (const char* tag : {"", "lr", "losses", "kl_loss", "g/loss", "loss_accuracy", "weights"}) {
    EXPECT_EQ(scalar_name(tag, false).kind, ScalarKind::kOther) << tag;
  }
  EXPECT_LT(scalar_name("loss", false).rank, scalar_name("val/loss", false).rank);
  EXPECT_LT(scalar_name("train_loss_step", false).rank,
            scalar_name("train_loss_epoch", false).rank);
  EXPECT_LT(scalar_name("epoch_loss", false).rank, scalar_name("epoch_loss", true).rank);
  EXPECT_LT(scalar_name("val/acc", false).rank, scalar_name("acc", false).rank);
  EXPECT_LT(scalar_name("acc", false).rank, scalar_name("train/acc", false).rank);
}

}  // namespace
}  // namespace berth
