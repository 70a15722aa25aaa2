// From a row of a trace to a job as its user declared it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/job.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth {

enum class Sharing : std::uint8_t {
  kExclusive,  // a GPU is a slot: a share of one takes all of it
  kShared,     // a task takes the share it declares
};

// "exclusive", "shared".
[[nodiscard]] std::string_view sharing_name(Sharing sharing);

// Why a job of 1.5 GPUs is not used where GPUs are shared.
inline constexpr std::string_view kNotWholeGpus = "more than one GPU, but not a whole number";

// Longer than any job, short enough that thousands in a row stay in range.
inline constexpr TimeUs kLongestRun = 36'500 * kUsPerDay;

class TracedJobs {
 public:
  // Both must outlive this; rows that cannot be used are added to `report`.
  TracedJobs(const trace::Trace& trace, const Cluster& cluster, Sharing sharing,
             trace::RejectReport& report);

  // A gang of one task a GPU, as the trace describes it. Nothing if the row does not say what the
  // job needs to be simulated, which is then counted and reported.
  [[nodiscard]] std::optional<Job> job(const trace::TraceJob& traced);
  // Counts and reports a row that the caller cannot use.
  void reject(const trace::TraceJob& traced, std::string_view why);

  [[nodiscard]] std::uint64_t unusable() const { return unusable_; }
  // Jobs whose GPU type was ignored: the cluster names none.
  [[nodiscard]] std::uint64_t types_ignored() const { return types_ignored_; }

 private:
  const trace::Trace& trace_;
  trace::RejectReport& report_;
  Sharing sharing_;
  bool cluster_names_types_ = false;
  std::vector<GpuTypeMask> masks_;  // by index of Trace::gpu_types
  std::uint64_t unusable_ = 0;
  std::uint64_t types_ignored_ = 0;
};

// The error of a workload without any job.
[[nodiscard]] Error no_usable_job(const trace::Trace& trace, std::uint64_t unusable);

}  // namespace berth
