// The workload presets as a whole: what docs/workloads.md says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/presets/measured.h"
#include "engine/presets/measured_facts.h"
#include "engine/presets/paper.h"
#include "policy/common/cached_policy.h"
#include "trace/generate.h"
#include "trace/reader.h"
#include "unit/trace/data_dir.h"

namespace berth {
namespace {

constexpr std::size_t kJobs = 4000;

Cluster cluster_named(std::string_view name) {
  return *std::move(*named_cluster(name));
}

const trace::Trace& philly_like() {
  static const trace::Trace trace = [] {
    auto generated = trace::generate_philly_like({.jobs = 20'000}, Rng(5));
    return *std::move(generated);
  }();
  return trace;
}

Workload paper(std::uint64_t seed, std::size_t jobs, Sharing sharing = Sharing::kExclusive,
               PresetSettings settings = {}) {
  settings.jobs = static_cast<std::int64_t>(jobs);
  trace::RejectReport report;
  auto workload =
      paper_workload(philly_like(), cluster_named("mlfs-real"), sharing, settings, seed, report);
  EXPECT_TRUE(workload);
  return *std::move(workload);
}

Workload measured(std::uint64_t seed, Sharing sharing = Sharing::kExclusive) {
  trace::RejectReport report;
  auto workload =
      measured_workload(philly_like(), cluster_named("200x8"), sharing, {}, seed, report);
  EXPECT_TRUE(workload);
  return *std::move(workload);
}

std::int64_t critical_path(const TaskGraph& graph) {
  std::vector<std::int64_t> ready(graph.tasks.size(), 0);
  std::int64_t longest = 0;
  for (std::uint32_t k = 0; k < graph.tasks.size(); ++k) {
    const std::int64_t done = ready[k] + graph.tasks[k].compute_us;
    longest = std::max(longest, done);
    for (const TaskEdge& edge : graph.edges) {
      if (edge.from == k) ready[edge.to] = std::max(ready[edge.to], done);
    }
  }
  return longest;
}

// Everything that one job says of itself agrees.
void expect_consistent(const Workload& w, std::size_t j) {
  SCOPED_TRACE(j);
  const Job& job = w.jobs[j];
  const TrainingTruth& truth = w.training.jobs[j];
  const TaskGraph& graph = w.graphs[job.graph.index()];
  ASSERT_EQ(job.tasks, job.replicas * graph.tasks.size() + job.parameter_servers);
  EXPECT_EQ(job.parameter_servers == 1, graph.comm == CommStructure::kParameterServer);
  if (graph.comm == CommStructure::kAllReduce) {
    EXPECT_GT(job.replicas, 1U);
  }
  const auto by_ends = [](const TaskEdge& a, const TaskEdge& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  };
  EXPECT_TRUE(std::ranges::is_sorted(graph.edges, by_ends));
  for (const TaskEdge& edge : graph.edges) EXPECT_LT(edge.from, edge.to);

  ASSERT_EQ(truth.iterations % job.replicas, 0);
  const std::int64_t rounds = truth.iterations / job.replicas;
  // Whole microseconds in the path, picoseconds in the part of a checkpoint.
  const double iteration_us = static_cast<double>(critical_path(graph)) +
                              std::ceil(1e6 * static_cast<double>(truth.checkpoint_us) /
                                        static_cast<double>(truth.checkpoint_iterations)) /
                                  1e6;
  EXPECT_NEAR(static_cast<double>(w.truths[j].work_us), static_cast<double>(rounds) * iteration_us,
              1.0 + 1e-12 * static_cast<double>(w.truths[j].work_us));
  EXPECT_EQ(job.max_iterations, truth.iterations);
  EXPECT_EQ(truth.state_bytes, 12 * graph.parameters());

  EXPECT_GE(job.deadline_us.value() - job.submit_us,
            std::max(kUsPerHour / 2, w.truths[j].work_us * 11 / 10 - 1));
  EXPECT_LE(job.deadline_us.value() - job.submit_us,
            std::max(24 * kUsPerHour, w.truths[j].work_us * 11 / 10 + 1));
  EXPECT_GE(job.urgency, 1);
  EXPECT_LE(job.urgency, 10);
  EXPECT_GE(job.stop_at_worst, job.stop);
  const double required = job.required_accuracy_ppm / 1e6;
  EXPECT_NEAR(required, 0.95 * truth.curve.accuracy(truth.iterations), 2e-6);
  EXPECT_TRUE(truth.curve.first_reaching(required, truth.iterations).has_value());

  EXPECT_GT(job.cpu_milli_per_task, 0U);
  EXPECT_GT(job.memory_mib_per_task, 0U);
  EXPECT_GT(job.gpu_memory_mib_per_task, 0U);
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    const TaskUse& use = w.training.uses[truth.first_use + k];
    EXPECT_EQ(use.sm_ppm > 0, job.is_worker(k));
    EXPECT_LE(use.sm_ppm, 1'000'000);
    EXPECT_LE(use.memory_bandwidth_ppm, use.sm_ppm);
    EXPECT_GT(use.cpu_milli, 0);
    EXPECT_GT(use.memory_mib, 0);
  }
}

void expect_consistent(const Workload& w) {
  ASSERT_EQ(w.truths.size(), w.jobs.size());
  ASSERT_EQ(w.names.size(), w.jobs.size());
  ASSERT_EQ(w.training.jobs.size(), w.jobs.size());
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    expect_consistent(w, j);
    if (j > 0) {
      EXPECT_GE(w.jobs[j].submit_us, w.jobs[j - 1].submit_us);
    }
  }
}

double mean_of(const Workload& w, const std::function<double(std::size_t)>& value) {
  double sum = 0;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) sum += value(j);
  return sum / static_cast<double>(w.jobs.size());
}

// All that is drawn of a job, for comparing.
std::vector<double> fingerprint(const Workload& w, std::size_t j) {
  const Job& job = w.jobs[j];
  const TrainingTruth& truth = w.training.jobs[j];
  std::vector<double> out = {static_cast<double>(job.submit_us),
                             static_cast<double>(job.tasks),
                             static_cast<double>(job.model.value),
                             static_cast<double>(job.deadline_us.value()),
                             static_cast<double>(job.urgency),
                             static_cast<double>(job.required_accuracy_ppm),
                             static_cast<double>(job.cpu_milli_per_task),
                             static_cast<double>(job.memory_mib_per_task),
                             static_cast<double>(job.gpu_memory_mib_per_task),
                             static_cast<double>(w.truths[j].work_us),
                             static_cast<double>(truth.iterations),
                             static_cast<double>(truth.load_us),
                             truth.curve.half_iterations,
                             truth.curve.last_accuracy};
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    out.push_back(w.training.uses[truth.first_use + k].sm_ppm);
    out.push_back(w.training.uses[truth.first_use + k].memory_mib);
  }
  for (const TaskSpec& task : w.graphs[job.graph.index()].tasks) {
    out.push_back(static_cast<double>(task.compute_us));
  }
  return out;
}

TEST(Paper, EveryJobIsConsistent) {
  expect_consistent(paper(1, kJobs));
  expect_consistent(paper(2, kJobs, Sharing::kShared));
  PresetSettings settings;
  settings.stop = StopChoice::kMixed;
  settings.gpus = GpuCounts::kTrace;
  expect_consistent(paper(3, kJobs, Sharing::kExclusive, settings));
}

TEST(Paper, DrawsWhatTheTableSays) {
  const Workload w = paper(1, kJobs);
  EXPECT_NEAR(mean_of(w, [&](std::size_t j) { return seconds(w.truths[j].work_us); }), 3600, 1);
  std::map<std::string, double> models;
  std::map<std::uint32_t, double> gpus;
  std::map<int, double> urgencies;
  for (const Job& job : w.jobs) {
    models[std::string(w.trace.models.name(job.model.value))] += 1.0 / kJobs;
    gpus[job.workers()] += 1.0 / kJobs;
    urgencies[job.urgency] += 1.0 / kJobs;
  }
  ASSERT_EQ(models.size(), 5U);
  for (const auto& [name, share] : models) EXPECT_NEAR(share, 0.2, 0.03) << name;
  ASSERT_EQ(gpus.size(), 6U);
  for (const auto& [count, share] : gpus) {
    EXPECT_TRUE(std::has_single_bit(count) && count <= 32) << count;
    EXPECT_NEAR(share, 1.0 / 6.0, 0.03) << count;
  }
  ASSERT_EQ(urgencies.size(), 10U);
  for (const auto& [urgency, share] : urgencies) EXPECT_NEAR(share, 0.1, 0.025) << urgency;
  const auto duty = [&](std::size_t j) {
    return w.training.uses[w.training.jobs[j].first_use].sm_ppm / 1e6;
  };
  EXPECT_NEAR(mean_of(w, duty), presets::kPhillyMeanUtilisation, 0.02);
  const auto peaked = [&](std::size_t j) {
    return w.training.jobs[j].curve.peak_iteration >= 0 ? 1.0 : 0.0;
  };
  const auto long_enough = [&](std::size_t j) {
    return w.training.jobs[j].iterations >= 10 ? 1.0 : 0.0;
  };
  EXPECT_NEAR(mean_of(w, peaked) / mean_of(w, long_enough), presets::kPeaked, 0.03);
  const auto ended_at_24_h = std::ranges::count_if(
      w.truths, [](const JobTruth& truth) { return truth.work_us > 24 * kUsPerHour; });
  EXPECT_EQ(ended_at_24_h, 0);
}

TEST(Paper, IterationsTakeFourToFortySeconds) {
  const Workload w = paper(1, kJobs);
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    const TrainingTruth& truth = w.training.jobs[j];
    const std::int64_t rounds = truth.iterations / w.jobs[j].replicas;
    const TimeUs iteration_us = w.truths[j].work_us / rounds;
    EXPECT_LE(iteration_us, 40 * kUsPerS);
    if (w.truths[j].work_us >= 4 * kUsPerS) {
      EXPECT_GE(iteration_us, 4 * kUsPerS);
    } else {
      EXPECT_EQ(rounds, 1);
    }
  }
}

TEST(Paper, GraphsAreCutAsInThePaper) {
  const Workload w = paper(1, kJobs);
  std::set<std::pair<std::string, bool>> seen;
  for (const Job& job : w.jobs) {
    const std::string model(w.trace.models.name(job.model.value));
    const TaskGraph& graph = w.graphs[job.graph.index()];
    const std::size_t n = graph.tasks.size();
    seen.insert({model, job.parameter_servers == 1});
    for (const TaskEdge& edge : graph.edges) {
      EXPECT_GE(edge.bytes, 50'000'000);
      EXPECT_LE(edge.bytes, 100'000'000);
    }
    if (graph.comm != CommStructure::kNone) {
      for (const TaskSpec& task : graph.tasks) {
        EXPECT_GE(task.exchange_bytes, 50'000'000);
        EXPECT_LE(task.exchange_bytes, 100'000'000);
      }
    }
    if (model == "SVM") {
      EXPECT_EQ(n, 1U);
    } else {
      EXPECT_EQ(job.replicas, 1U);
    }
    if (model == "AlexNet" || model == "MLP") {
      EXPECT_EQ(graph.edges.size(), n - 1);
    }
    if ((model == "ResNet" || model == "LSTM") && n >= 4) {
      EXPECT_GT(graph.edges.size(), n - 1);
    }
  }
  EXPECT_EQ(seen.size(), 10U) << "each model with and without a parameter server";
}

TEST(Paper, FitsTheServersOfItsCluster) {
  // Four workers and four parameter servers on one server of 32 cores and 244 GB.
  const Workload w = paper(1, kJobs);
  for (const Job& job : w.jobs) {
    EXPECT_LE(job.cpu_milli_per_task * 8, 32'000U);
    EXPECT_LE(job.memory_mib_per_task * 8, 232'696U);
    EXPECT_LE(job.gpu_memory_mib_per_task, 16U * 1024U);
    // What users ask for, and few enough kinds of jobs for policies to treat alike.
    EXPECT_EQ(job.cpu_milli_per_task % 1000, 0U);
    EXPECT_EQ(job.memory_mib_per_task % 1024, 0U);
    EXPECT_EQ(job.gpu_memory_mib_per_task % 1024, 0U);
  }
}

TEST(Paper, SharesAreTheDeclaredDuty) {
  const Workload exclusive = paper(1, kJobs);
  const Workload shared = paper(1, kJobs, Sharing::kShared);
  const Cluster cluster = cluster_named("mlfs-real");
  for (std::size_t j = 0; j < kJobs; ++j) {
    EXPECT_EQ(exclusive.jobs[j].gpu_milli_per_task, 1000U);
    ASSERT_GE(shared.jobs[j].gpu_milli_per_task, 50U);
    ASSERT_LE(shared.jobs[j].gpu_milli_per_task, 1000U);
    EXPECT_EQ(fingerprint(exclusive, j), fingerprint(shared, j));
  }
  const OfferedLoad a = offered_load(exclusive, cluster);
  const OfferedLoad b = offered_load(shared, cluster);
  EXPECT_DOUBLE_EQ(a.share, b.share);
  EXPECT_DOUBLE_EQ(a.whole, b.whole);
  EXPECT_NEAR(a.share / a.whole, presets::kPhillyMeanUtilisation, 0.03);
  // Real use varies around the declared one, and is not more or less of it on the whole.
  double declared = 0;
  double real = 0;
  std::size_t above = 0;
  std::size_t tasks = 0;
  for (std::size_t j = 0; j < kJobs; ++j) {
    const Job& job = shared.jobs[j];
    for (std::uint32_t k = 0; k < job.tasks; ++k) {
      const TaskUse& use = shared.training.uses[shared.training.jobs[j].first_use + k];
      declared += job.cpu_milli_per_task;
      real += use.cpu_milli;
      above += use.cpu_milli > static_cast<std::int64_t>(job.cpu_milli_per_task) ? 1 : 0;
      ++tasks;
    }
  }
  EXPECT_NEAR(real / declared, 1.0, 0.01);
  EXPECT_NEAR(static_cast<double>(above) / static_cast<double>(tasks), 0.47, 0.02);
}

TEST(Paper, SameSeedSameJobsOtherSeedOtherJobs) {
  const Workload a = paper(7, 300);
  const Workload b = paper(7, 300);
  const Workload c = paper(8, 300);
  std::size_t differ = 0;
  for (std::size_t j = 0; j < 300; ++j) {
    EXPECT_EQ(fingerprint(a, j), fingerprint(b, j));
    EXPECT_EQ(a.names[j], b.names[j]);
    differ += a.names[j] != c.names[j] ? 1 : 0;
  }
  EXPECT_GT(differ, 250U) << "the subset of the week is the seed's";
}

TEST(Paper, OneSettingDoesNotShiftOtherDraws) {
  const Workload plain = paper(7, 300);
  PresetSettings settings;
  settings.stop = StopChoice::kMixed;
  settings.checkpoint_on_stop = false;
  const Workload other = paper(7, 300, Sharing::kExclusive, settings);
  for (std::size_t j = 0; j < 300; ++j) EXPECT_EQ(fingerprint(plain, j), fingerprint(other, j));
  settings = {};
  settings.required_accuracy = 0.8;
  settings.use_sigma = 0;
  const Workload third = paper(7, 300, Sharing::kExclusive, settings);
  for (std::size_t j = 0; j < 300; ++j) {
    EXPECT_EQ(plain.jobs[j].deadline_us, third.jobs[j].deadline_us);
    EXPECT_EQ(plain.truths[j].work_us, third.truths[j].work_us);
    EXPECT_EQ(third.training.uses[third.training.jobs[j].first_use].cpu_milli,
              static_cast<std::int32_t>(third.jobs[j].cpu_milli_per_task));
  }
}

TEST(Paper, MoreJobsThanTheTraceHasGetNamesOfTheirOwn) {
  PresetSettings settings;
  settings.span = PaperSpan::kLarge;
  const Workload w = paper(1, 25'000, Sharing::kExclusive, settings);
  ASSERT_EQ(w.jobs.size(), 25'000U);
  EXPECT_EQ(std::set(w.names.begin(), w.names.end()).size(), 25'000U);
}

TEST(Paper, TheFirstJobsOfAWorkloadAreTheSameJobs) {
  const Workload whole = paper(1, 500);
  Workload cut = paper(1, 500);
  keep_first(cut, 100);
  ASSERT_EQ(cut.jobs.size(), 100U);
  EXPECT_EQ(cut.training.uses.size(), whole.training.jobs[100].first_use);
  expect_consistent(cut);
  for (std::size_t j = 0; j < 100; ++j) EXPECT_EQ(fingerprint(whole, j), fingerprint(cut, j));
  divide_arrivals(cut, 2.0);
  for (std::size_t j = 0; j < 100; ++j) {
    EXPECT_NEAR(static_cast<double>(cut.jobs[j].submit_us),
                static_cast<double>(whole.jobs[j].submit_us) / 2, 0.51);
    EXPECT_EQ(cut.jobs[j].deadline_us.value() - cut.jobs[j].submit_us,
              whole.jobs[j].deadline_us.value() - whole.jobs[j].submit_us);
  }
}

TEST(Paper, ATraceWithoutTrainingJobsIsAnError) {
  trace::Trace trace;
  trace.source = "t.csv";
  trace.jobs.resize(2);
  trace.jobs[0].gpu_milli = 0;
  trace.jobs[0].duration_us = 5;
  trace.jobs[1].gpu_milli = 1000;  // of unknown duration
  trace::RejectReport report;
  const auto workload =
      paper_workload(trace, cluster_named("mlfs-real"), Sharing::kExclusive, {}, 1, report);
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().exit_code(), 2);
  EXPECT_EQ(report.rejected(), 2U);
}

// As much as `large` may hold at once, per task: 350 MiB for 1.3 million tasks.
TEST(Paper, IsSmall) {
  const Workload w = paper(1, kJobs);
  std::size_t bytes = w.jobs.size() * (sizeof(Job) + sizeof(JobTruth) + sizeof(std::string_view) +
                                       sizeof(TrainingTruth) + sizeof(TaskGraph)) +
                      w.training.uses.size() * sizeof(TaskUse);
  for (const TaskGraph& graph : w.graphs) {
    bytes += graph.tasks.capacity() * sizeof(TaskSpec) + graph.edges.capacity() * sizeof(TaskEdge);
  }
  EXPECT_LT(static_cast<double>(bytes) / static_cast<double>(w.training.uses.size()), 150.0);
}

TEST(Measured, KeepsArrivalsGpusAndDurations) {
  const Workload w = measured(1);
  const trace::Trace& trace = philly_like();
  ASSERT_EQ(w.jobs.size(), trace.jobs.size());
  expect_consistent(w);
  std::set<std::uint32_t> models;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    EXPECT_EQ(w.jobs[j].submit_us, trace.jobs[j].arrival_us);
    EXPECT_EQ(w.jobs[j].workers() * 1000, trace.jobs[j].gpu_milli.value());
    const auto duration_us = static_cast<double>(trace.jobs[j].duration_us.value());
    EXPECT_NEAR(static_cast<double>(w.truths[j].work_us), duration_us, 1000 + 1e-4 * duration_us);
    EXPECT_EQ(w.jobs[j].vc.value, trace.jobs[j].vc);
    models.insert(w.jobs[j].model.value);
  }
  EXPECT_EQ(models.size(), presets::profiled_models().size());
}

TEST(Measured, DutyIsPhillysByJobSize) {
  const Workload w = measured(1);
  std::map<std::uint32_t, std::pair<double, double>> sums;  // by GPUs: duty, tasks
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    auto& [duty, tasks] = sums[w.jobs[j].workers()];
    duty += w.training.uses[w.training.jobs[j].first_use].sm_ppm / 1e6;
    tasks += 1;
  }
  for (const auto& size : presets::kPhillyUtilisation) {
    const auto& [duty, jobs] = sums[size.gpus];
    const double error = 3 * 0.27 / std::sqrt(jobs) + 0.01;
    EXPECT_NEAR(duty / jobs, size.mean, error) << size.gpus;
  }
}

TEST(Measured, KeepsSharesAndDemandsThatTheTraceDeclares) {
  trace::Trace trace;
  trace.jobs.resize(1);
  trace.jobs[0].id = "a";
  trace.jobs[0].gpu_milli = 460;
  trace.jobs[0].duration_us = kUsPerHour;
  trace.jobs[0].cpu_milli = 6000;
  trace.jobs[0].memory_mib = 12288;
  trace::RejectReport report;
  const auto workload =
      measured_workload(trace, cluster_named("4x4"), Sharing::kShared, {}, 1, report);
  ASSERT_TRUE(workload);
  const Job& job = workload->jobs[0];
  EXPECT_EQ(job.gpu_milli_per_task, 460U);
  EXPECT_EQ(job.cpu_milli_per_task, 6000U);
  EXPECT_EQ(job.memory_mib_per_task, 12288U);
  EXPECT_NEAR(workload->training.uses[0].sm_ppm, 460'000, 300'000);
}

TEST(Measured, AJobThatNeverFitsMayHaveAnyNumberOfTasks) {
  trace::Trace trace;
  trace.jobs.resize(1);
  trace.jobs[0].gpu_milli = 4'000'000'000'000;
  trace.jobs[0].duration_us = kUsPerHour;
  trace::RejectReport report;
  const auto workload =
      measured_workload(trace, cluster_named("4x4"), Sharing::kExclusive, {}, 1, report);
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->jobs[0].tasks, 4'000'000'000U);
  EXPECT_TRUE(workload->training.uses.empty());
  EXPECT_LT(offered_load(*workload, cluster_named("4x4")).whole, 0.0);
}

// Whatever a trace says: jobs that agree with themselves, or one error.
TEST(Presets, OddTracesGiveConsistentJobsOrAnError) {
  Rng rng(21);
  const Cluster clusters[] = {cluster_named("1x1"), cluster_named("3x8"),
                              cluster_named("mlfs-real"), Cluster{}};
  constexpr std::int64_t kTimes[] = {0, 1, 999, 1000, kUsPerS, kUsPerHour, 36'500 * kUsPerDay};
  constexpr std::int64_t kGpuMilli[] = {0, 1, 50, 460, 1000, 1500, 3000, 32'000, 4'000'000'000'000};
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    trace::Trace trace;
    trace.source = "odd";
    trace.jobs.resize(rng.below(6));
    TimeUs arrival_us = 0;
    for (trace::TraceJob& job : trace.jobs) {
      if (rng.chance(0.3)) arrival_us += kTimes[rng.below(std::size(kTimes))] / 8;
      job.arrival_us = arrival_us;
      if (rng.chance(0.9)) job.duration_us = kTimes[rng.below(std::size(kTimes))];
      if (rng.chance(0.9)) job.gpu_milli = kGpuMilli[rng.below(std::size(kGpuMilli))];
      if (rng.chance(0.2)) job.memory_mib = static_cast<std::int64_t>(rng.next_u64() >> 1);
      job.shards = rng.chance(0.1);
    }
    PresetSettings settings;
    settings.jobs = rng.uniform_int(1, 20);
    settings.mean_alone_h = rng.chance(0.5) ? 0.01 : 1000.0;
    if (rng.chance(0.5)) settings.gpus = GpuCounts::kTrace;
    if (rng.chance(0.5)) settings.span = PaperSpan::kLarge;
    const Cluster& cluster = clusters[rng.below(std::size(clusters))];
    const Sharing sharing = rng.chance(0.5) ? Sharing::kShared : Sharing::kExclusive;
    for (const auto make : {paper_workload, measured_workload}) {
      trace::RejectReport report;
      const auto workload = make(trace, cluster, sharing, settings, rng.next_u64(), report);
      if (!workload) {
        EXPECT_EQ(workload.error().exit_code(), 2);
        EXPECT_EQ(report.rejected(), trace.jobs.size());
        continue;
      }
      EXPECT_EQ(workload->unusable, report.rejected());
      for (std::size_t j = 0; j < workload->jobs.size(); ++j) {
        if (never_reason(cluster, workload->jobs[j]).code != ReasonCode::kNone) continue;
        expect_consistent(*workload, j);
      }
      const OfferedLoad load = offered_load(*workload, cluster);
      EXPECT_TRUE(std::isfinite(load.whole) && std::isfinite(load.share));
    }
  }
}

// simulation.md, from a trace to jobs.
TEST(PaperData, OfferedLoadIsNearTheTable) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/philly_rfold/philly_trace.csv.xz");
  const auto read = trace::read_trace(path, {});
  ASSERT_TRUE(read);
  const Cluster cluster = cluster_named("mlfs-real");
  struct Row {
    std::int64_t jobs;
    double rho_whole;
  };
  constexpr Row kTable[] = {{155, 0.13}, {620, 0.48}, {900, 0.76}, {1860, 1.43}};
  constexpr int kSeeds = 20;
  for (const Row& row : kTable) {
    double whole = 0;
    double share = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      PresetSettings settings;
      settings.jobs = row.jobs;
      trace::RejectReport report;
      const auto workload =
          paper_workload(read->trace, cluster, Sharing::kExclusive, settings, seed, report);
      ASSERT_TRUE(workload);
      const OfferedLoad load = offered_load(*workload, cluster);
      whole += load.whole / kSeeds;
      share += load.share / kSeeds;
    }
    EXPECT_NEAR(whole / row.rho_whole, 1.0, 0.1) << row.jobs;
    EXPECT_NEAR(share / whole, presets::kPhillyMeanUtilisation, 0.03) << row.jobs;
  }
}

TEST(PaperData, TheLargeOneHasTheTasksOfThePaper) {
  BERTH_REQUIRE_DATA_FILE(path, "traces/philly_rfold/philly_trace.csv.xz");
  const auto read = trace::read_trace(path, {});
  ASSERT_TRUE(read);
  const Cluster cluster = cluster_named("mlfs-large");
  trace::RejectReport report;
  const auto workload = paper_workload(read->trace, cluster, Sharing::kExclusive, {}, 1, report);
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->jobs.size(), 117'325U);
  std::uint64_t workers = 0;
  for (const Job& job : workload->jobs) workers += job.workers();
  EXPECT_NEAR(static_cast<double>(workers), 1.23e6, 0.02e6);
  EXPECT_NEAR(offered_load(*workload, cluster).whole, 0.32, 0.01);
}

}  // namespace
}  // namespace berth
