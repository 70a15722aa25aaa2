#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "telemetry/progress_log.h"

namespace berth {
namespace {

ProgressPoint loss(std::int64_t iteration, double value, std::uint32_t writer = 0) {
  ProgressPoint point;
  point.iteration = iteration;
  point.loss = value;
  point.writer = writer;
  return point;
}
ProgressPoint accuracy(std::int64_t iteration, double value, std::uint32_t writer = 0) {
  ProgressPoint point;
  point.iteration = iteration;
  point.accuracy = value;
  point.writer = writer;
  return point;
}

std::map<std::int64_t, double> losses(const ProgressCurve& curve) {
  std::map<std::int64_t, double> out;
  for (const ProgressPoint& point : curve.points()) {
    if (point.loss) out[point.iteration] = *point.loss;
  }
  return out;
}

TEST(ProgressCurve, NothingYet) {
  const ProgressCurve curve;
  EXPECT_EQ(curve.last_iteration(), -1);
  EXPECT_EQ(curve.loss_at(10), std::nullopt);
}

TEST(ProgressCurve, LastKnownValueAtAnIteration) {
  ProgressCurve curve;
  curve.add(loss(1, 4.0));
  curve.add(accuracy(1, 0.5));
  curve.add(loss(3, 2.0));
  EXPECT_EQ(curve.points().size(), 2U);
  EXPECT_EQ(curve.loss_at(0), std::nullopt);
  EXPECT_EQ(curve.loss_at(2), 4.0);
  EXPECT_EQ(curve.loss_at(99), 2.0);
  EXPECT_EQ(curve.accuracy_at(99), 0.5);
}

TEST(ProgressCurve, ARunThatGoesBackDoesItAnew) {
  ProgressCurve curve;
  for (int i = 0; i <= 9; ++i) curve.add(loss(i, 10 - i));
  curve.add(loss(5, 50.0));
  const std::map<std::int64_t, double> expected = {{0, 10}, {1, 9}, {2, 8},
                                                   {3, 7},  {4, 6}, {5, 50}};
  EXPECT_EQ(losses(curve), expected);
  EXPECT_EQ(curve.last_iteration(), 5);
}

TEST(ProgressCurve, WritersDoNotTakeAwayFromEachOther) {
  const std::vector<ProgressPoint> a = {loss(0, 1, 7), loss(2, 3, 7), loss(4, 5, 7)};
  const std::vector<ProgressPoint> b = {loss(1, 2, 8), loss(3, 4, 8)};
  for (const bool a_first : {true, false}) {
    ProgressCurve curve;
    for (const auto& points : a_first ? std::vector{a, b} : std::vector{b, a}) {
      for (const ProgressPoint& point : points) curve.add(point);
    }
    const std::map<std::int64_t, double> expected = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
    EXPECT_EQ(losses(curve), expected);
  }
}

TEST(ProgressCurve, AWriterTakesAwayOnlyWhatItSaid) {
  ProgressCurve curve;
  curve.add(loss(1, 1.0, 7));
  curve.add(loss(5, 1.0, 7));
  curve.add(accuracy(5, 0.5, 8));
  curve.add(loss(2, 0.5, 7));
  EXPECT_EQ(losses(curve), (std::map<std::int64_t, double>{{1, 1.0}, {2, 0.5}}));
  EXPECT_EQ(curve.accuracy_at(5), 0.5);
  EXPECT_EQ(curve.last_iteration(), 5);
}

TEST(ProgressCurve, DivergedHasNoLoss) {
  ProgressCurve curve;
  curve.add(loss(1, 1.0));
  ProgressPoint point;
  point.iteration = 2;
  point.diverged = true;
  curve.add(point);
  EXPECT_TRUE(curve.points().back().diverged);
  EXPECT_EQ(curve.loss_at(2), 1.0);
}

TEST(ProgressCurve, AnyLengthTakesLittle) {
  ProgressCurve curve;
  curve.add(accuracy(3, 0.25));
  for (int i = 4; i < 200'000; ++i) curve.add(loss(i, 1.0 / (i + 1)));
  EXPECT_LE(curve.points().size(), 4096U);
  EXPECT_GE(curve.points().size(), 2000U);
  EXPECT_EQ(curve.last_iteration(), 199'999);
  EXPECT_EQ(curve.loss_at(199'999), 1.0 / 200'000);
  EXPECT_EQ(curve.accuracy_at(199'999), 0.25);
}

// Against the obvious curve, one map a writer.
TEST(ProgressCurve, SameAsItsSlowTwin) {
  Rng rng(5);
  for (int run = 0; run < 200; ++run) {
    ProgressCurve curve;
    std::map<std::int64_t, std::pair<double, std::uint32_t>> twin;
    for (int i = 0; i < 100; ++i) {
      const auto step = rng.uniform_int(0, 30);
      const auto writer = static_cast<std::uint32_t>(rng.below(3));
      curve.add(loss(step, i, writer));
      std::erase_if(twin, [&](const auto& entry) {
        return entry.first > step && entry.second.second == writer;
      });
      twin[step] = {i, writer};
    }
    std::map<std::int64_t, double> expected;
    for (const auto& [step, entry] : twin) expected[step] = entry.first;
    ASSERT_EQ(losses(curve), expected) << run;
  }
}

}  // namespace
}  // namespace berth
