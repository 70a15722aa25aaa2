// The parts that the workload presets are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "engine/presets/arrivals.h"
#include "engine/presets/curves.h"
#include "engine/presets/iteration_plan.h"
#include "engine/presets/replica_graph.h"
#include "engine/presets/settings.h"

namespace berth::presets {
namespace {

std::int64_t critical_path(const TaskGraph& graph) {
  std::vector<std::int64_t> ready(graph.tasks.size(), 0);
  std::int64_t longest = 0;
  std::size_t edge = 0;
  for (std::uint32_t k = 0; k < graph.tasks.size(); ++k) {
    const std::int64_t done = ready[k] + graph.tasks[k].compute_us;
    longest = std::max(longest, done);
    for (; edge < graph.edges.size() && graph.edges[edge].from == k; ++edge) {
      ready[graph.edges[edge].to] = std::max(ready[graph.edges[edge].to], done);
    }
  }
  EXPECT_EQ(edge, graph.edges.size()) << "edges are not sorted";
  return longest;
}

TEST(ReplicaGraph, CriticalPathAndParametersAreExact) {
  Rng rng(11);
  for (int i = 0; i < 500; ++i) {
    ReplicaPlan plan;
    plan.shape = {static_cast<std::uint32_t>(rng.uniform_int(1, 12)),
                  static_cast<std::uint32_t>(rng.uniform_int(1, 5))};
    plan.parameters = rng.uniform_int(60, 100'000'000);
    plan.compute_us = rng.uniform_int(plan.shape.layers, 40'000'000);
    plan.comm = rng.chance(0.5) ? CommStructure::kParameterServer : CommStructure::kNone;
    plan.bytes = {50, 100};
    const TaskGraph graph = replica_graph(plan, rng);
    const auto [layers, width] = plan.shape;
    ASSERT_EQ(graph.tasks.size(), layers * width);
    ASSERT_EQ(graph.edges.size(), (layers - 1) * width * width);
    EXPECT_EQ(critical_path(graph), plan.compute_us);
    EXPECT_EQ(graph.parameters(), plan.parameters);
    for (const TaskSpec& task : graph.tasks) {
      EXPECT_GE(task.parameters, 1);
      EXPECT_GE(task.compute_us, 1);
      EXPECT_EQ(task.exchange_bytes > 0, plan.comm != CommStructure::kNone);
    }
    for (const TaskEdge& edge : graph.edges) {
      EXPECT_EQ(edge.from / width + 1, edge.to / width) << "from one layer to the next";
      EXPECT_GE(edge.bytes, 50);
      EXPECT_LE(edge.bytes, 100);
    }
  }
}

TEST(IterationPlan, DividesTheAloneTime) {
  Rng rng(12);
  for (int i = 0; i < 2000; ++i) {
    IterationWish wish;
    wish.alone_us = rng.uniform_int(1, 40'000'000) * (rng.chance(0.5) ? 1 : 1000);
    wish.iteration_us = rng.uniform_int(4'000'000, 40'000'000);
    wish.least_us = 4'000'000;
    wish.most_us = 40'000'000;
    wish.checkpoint_every_us = 600'000'000;
    wish.checkpoint_us = 700'000;
    wish.replicas = static_cast<std::uint32_t>(rng.uniform_int(1, 32));
    const IterationPlan plan = plan_iterations(wish);
    ASSERT_EQ(plan.iterations % wish.replicas, 0);
    const std::int64_t rounds = plan.iterations / wish.replicas;
    const TimeUs alone_us = std::max<TimeUs>(wish.alone_us, 1000);
    EXPECT_LE(std::abs(plan.alone_us - alone_us), rounds / 2 + 1);
    EXPECT_LE(plan.compute_us, wish.most_us);
    if (alone_us >= wish.least_us) {
      EXPECT_GE(alone_us / rounds, wish.least_us);
    } else {
      EXPECT_EQ(rounds, 1);
    }
    // One every ten minutes, or every iteration where that takes longer.
    const double every_us = static_cast<double>(plan.checkpoint_iterations) / wish.replicas *
                            static_cast<double>(alone_us) / static_cast<double>(rounds);
    EXPECT_NEAR(every_us, 600e6, 20e6);
    EXPECT_GT(plan.compute_us, plan.alone_us / rounds / 2);
  }
}

TEST(Arrivals, TheBusiestWindowIsTheFirstWithTheMost) {
  const std::vector<TimeUs> times = {0, 10, 11, 12, 30, 31, 32, 40};
  const Window window = busiest_window(times, 3);
  EXPECT_EQ(window.first, 1U);
  EXPECT_EQ(window.last, 4U);
  const Window all = busiest_window(times, 1000);
  EXPECT_EQ(all.last - all.first, times.size());
}

TEST(Arrivals, FewerAreASubsetThatTheSeedChooses) {
  std::vector<TimeUs> times(1000);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<TimeUs>(i * i);
  std::set<std::vector<std::size_t>> subsets;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto drawn = draw_arrivals(times, {100, 900}, 50, Rng(seed));
    ASSERT_EQ(drawn.size(), 50U);
    EXPECT_EQ(drawn.front().submit_us, 0);
    std::vector<std::size_t> sources;
    for (const Arrival& arrival : drawn) {
      EXPECT_EQ(arrival.copy, 0U);
      EXPECT_EQ(arrival.submit_us, times[arrival.source] - times[drawn.front().source]);
      sources.push_back(arrival.source);
    }
    EXPECT_TRUE(std::ranges::is_sorted(sources));
    EXPECT_GE(sources.front(), 100U);
    EXPECT_LT(sources.back(), 900U);
    EXPECT_EQ(std::set(sources.begin(), sources.end()).size(), 50U);
    subsets.insert(sources);
  }
  EXPECT_EQ(subsets.size(), 20U);
}

TEST(Arrivals, MoreKeepAllAndComeAtNewTimes) {
  const std::vector<TimeUs> times = {0, 1000, 2000, 3000, 100'000};
  const auto drawn = draw_arrivals(times, {0, 5}, 2000, Rng(3));
  ASSERT_EQ(drawn.size(), 2000U);
  std::set<std::size_t> themselves;
  std::set<std::uint64_t> copies;
  std::size_t late = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (i > 0) {
      EXPECT_GE(drawn[i].submit_us, drawn[i - 1].submit_us);
    }
    if (drawn[i].copy == 0) {
      themselves.insert(drawn[i].source);
    } else {
      copies.insert(drawn[i].copy);
      if (drawn[i].submit_us > 3000) ++late;
    }
  }
  EXPECT_EQ(themselves.size(), 5U);
  EXPECT_EQ(copies.size(), 1995U);
  // A quarter of the gaps between neighbours is the last one.
  EXPECT_NEAR(static_cast<double>(late) / 1995.0, 0.25, 0.04);
}

TEST(Arrivals, OneJobCanBeManyTimesResampled) {
  const std::vector<TimeUs> times = {7};
  const auto drawn = draw_arrivals(times, {0, 1}, 3, Rng(3));
  ASSERT_EQ(drawn.size(), 3U);
  for (const Arrival& arrival : drawn) EXPECT_EQ(arrival.submit_us, 0);
}

TEST(Curves, EndWhereMeasuredOnesEndAndPeakBefore) {
  Rng rng(14);
  const CurveShape shapes[] = {kCifar10, kImageNet, kWideResNet, kDeepSpeech2, kMovieLens};
  for (int i = 0; i < 1000; ++i) {
    const CurveShape& shape = shapes[rng.below(5)];
    const std::int64_t iterations = rng.uniform_int(1, 100'000);
    const bool peaked = rng.chance(0.5);
    const LearningCurve curve = draw_curve(shape, iterations, peaked, rng);
    const double last = curve.accuracy(iterations);
    EXPECT_NEAR(last, shape.final_accuracy, 0.0301);
    EXPECT_GT(last, curve.accuracy(0));
    EXPECT_GT(curve.loss(0), curve.loss(iterations));
    EXPECT_TRUE(curve.first_reaching(0.95 * last, iterations).has_value());
    if (curve.peak_iteration >= 0) {
      const std::int64_t best = curve.best_iteration(iterations);
      EXPECT_LT(best, iterations);
      EXPECT_GE(curve.accuracy(best) - last, 0.0004);
      EXPECT_GE(best, curve.peak_iteration);
    } else if (iterations > 10) {
      EXPECT_FALSE(peaked);
      EXPECT_EQ(curve.best_iteration(iterations), iterations);
    }
  }
}

TEST(Settings, TakesItsOwnAndLeavesTheOthers) {
  std::vector<PolicyOption> options = {{"jobs", "620"}, {"alpha", "0.3"}, {"span", "large"}};
  const auto paper = take_settings(Preset::kPaper, options);
  ASSERT_TRUE(paper);
  EXPECT_EQ(paper->jobs, 620);
  EXPECT_EQ(paper->span, PaperSpan::kLarge);
  ASSERT_EQ(options.size(), 1U);
  EXPECT_EQ(options[0].key, "alpha");

  std::vector<PolicyOption> of_paper = {{"jobs", "620"}};
  ASSERT_TRUE(take_settings(Preset::kMeasured, of_paper));
  EXPECT_EQ(of_paper.size(), 1U) << "measured jobs are those of the trace";
  ASSERT_TRUE(take_settings(Preset::kAsTraced, of_paper));
  EXPECT_EQ(of_paper.size(), 1U);
}

TEST(Settings, RefusesWhatIsOutOfRange) {
  const std::vector<PolicyOption> wrong = {{"jobs", "0"},
                                           {"jobs", "1.5"},
                                           {"jobs", "99999999999"},
                                           {"mean_alone_h", "nan"},
                                           {"gpus", "philly"},
                                           {"mean_alone_h", "-1"},
                                           {"stop", ""},
                                           {"use_sigma", "3"},
                                           {"span", "week"},
                                           {"checkpoint_on_stop", "1"},
                                           {"required_accuracy", "1.01"}};
  for (const PolicyOption& option : wrong) {
    std::vector<PolicyOption> options = {option};
    const auto settings = take_settings(Preset::kPaper, options);
    ASSERT_FALSE(settings) << option.key << "=" << option.value;
    EXPECT_EQ(settings.error().exit_code(), 2);
    EXPECT_NE(settings.error().text().find(option.key), std::string::npos);
    EXPECT_NE(settings.error().text().find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::presets
