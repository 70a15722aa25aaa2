// What the presets share: from what is known of a job to all that its user declares and all that is
// true of it. What is not known is drawn; docs/workloads.md lists the distributions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "engine/presets/curves.h"
#include "engine/presets/iteration_plan.h"
#include "engine/presets/replica_graph.h"
#include "engine/presets/settings.h"
#include "engine/workload.h"
#include "model/cluster.h"
#include "trace/trace.h"

namespace berth::presets {

// Random numbers of one job for one purpose: neither another job nor another purpose shifts them.
class JobStreams {
 public:
  JobStreams(const Rng& root, std::string_view purpose) : purpose_(root.fork(purpose)) {}
  [[nodiscard]] Rng of(std::size_t job) const { return purpose_.fork(job); }

 private:
  Rng purpose_;
};

// All draws of workloads come from here.
[[nodiscard]] inline Rng workload_rng(std::uint64_t seed) {
  return Rng(seed).fork("workload");
}

// What names of the trace stand for, so that indices into its tables stay right.
void copy_names(const trace::Trace& from, trace::Trace& to);

struct TrainingPlan {
  std::uint32_t replicas = 1;
  GraphShape shape;
  std::int64_t parameters = 0;
  CommStructure comm = CommStructure::kNone;
  ByteRange bytes;
  TimeUs alone_us = 0;
  TimeUs iteration_us = 0;
  TimeUs least_iteration_us = 1;
  TimeUs most_iteration_us = kNever;
  double mean_duty = 0;  // of a worker, over jobs of this kind
  CurveShape curve{};
};

class TrainingJobs {
 public:
  TrainingJobs(Workload& out, const Cluster& cluster, Sharing sharing,
               const PresetSettings& settings, const Rng& root);

  void reserve(std::size_t jobs, std::size_t tasks);
  // Appends the job with its truth. Of `job` the submission, owner, GPU types, known demands, GPUs
  // of a task (less than 1000: a share that the trace declares) and deadline count; the rest is
  // filled in.
  void add(Job job, std::string_view name, const TrainingPlan& plan);

 private:
  void set_shape(Job& job, const TrainingPlan& plan);
  void set_demand(Job& job, std::int64_t state_bytes, Rng rng) const;
  void set_goals(Job& job, const TrainingTruth& truth, TimeUs alone_us, Rng rng) const;
  double draw_duty(Job& job, double mean_duty, Rng rng) const;
  void add_uses(const Job& job, double duty, Rng rng);
  [[nodiscard]] double use_factor(Rng& rng) const;

  Workload& out_;
  const Cluster& cluster_;
  Sharing sharing_;
  const PresetSettings& settings_;
  std::int64_t gpu_memory_mib_;  // of the smallest GPU that states it
  std::int64_t cpu_milli_;       // a GPU's share of its server
  std::int64_t memory_mib_;
  JobStreams costs_, graph_, duty_, demand_, use_, curve_, goals_;
};

}  // namespace berth::presets
