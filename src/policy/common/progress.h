// How fast a job that reports its iterations gets on, and fits of what it has reported.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "curve/falling_curve.h"
#include "policy/common/replicas.h"
#include "policy/policy.h"

namespace berth {

struct Progress {
  std::int64_t done = 0;
  std::optional<std::int64_t> most{};          // the job's own bound, at least `done`
  std::optional<double> replica_per_s{};       // what one replica does; positive
  std::optional<double> best_replica_per_s{};  // what one ever did undisturbed; positive
};

// Of a job that waits or runs; nothing if it does not report. The speed is that of now, or else the
// best one so far, or else by the predicted run time.
[[nodiscard]] std::optional<Progress> progress_of(const ClusterView& view,
                                                  const Predictors& predictors, JobId id);

// How fast a running job is beside how fast it was at best, in (0, 1]; nothing while it loads or
// where it does not report.
[[nodiscard]] std::optional<double> relative_speed(const ClusterView& view, JobId id);

// The GPUs of one replica.
[[nodiscard]] inline double gpus_of_replica(const Job& job) {
  return static_cast<double>(job.partitions()) * job.gpu_milli_per_task / kWholeGpuMilli;
}

// The first `part` iterations of a job's losses, or of what its accuracies lack of 1, for a fit. A
// point weighs `decay` times what the next later one does. Fewer points than that many where the
// job does not report.
enum class Report : std::uint8_t { kLoss, kInaccuracy };
[[nodiscard]] std::vector<CurvePoint> points_to_fit(const Telemetry& telemetry, JobId id,
                                                    Report report, std::int64_t part,
                                                    double decay = 1.0);

// One fit a job, of a part of its history: made anew when another part is asked for, so that it is
// the same whenever it is asked for.
template <class Fit>
class FitCache {
 public:
  template <class Make>
  const Fit& get(JobId id, std::int64_t part, const Make& make) {
    if (entries_.size() <= id.index()) entries_.resize(id.index() + 1);
    Entry& entry = entries_[id.index()];
    if (entry.part != part) entry = {part, make()};
    return entry.fit;
  }
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::int64_t part = -1;
    Fit fit{};
  };
  std::vector<Entry> entries_;  // by JobId
};

}  // namespace berth
