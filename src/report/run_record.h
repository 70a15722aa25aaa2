// What is kept of a finished run: its figures, how its jobs' completion times are distributed, and
// how its queue and its GPUs fared over time. Small, whatever the number of jobs.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/event_log.h"
#include "engine/metrics.h"
#include "engine/workload.h"
#include "model/cluster.h"

namespace berth {

// Means over bins of equal width, from time 0 on; the last one may be cut by the end of the run.
struct RunSeries {
  TimeUs bin_us = 0;
  std::vector<std::int64_t> waiting_milli;  // thousandths of jobs that wait and can ever run
  std::vector<std::int64_t> held_milli;     // thousandths of GPUs that are held
  friend bool operator==(const RunSeries&, const RunSeries&) = default;
};

struct RunRecord {
  Metrics metrics;
  // Of jobs that count: the smallest, then the i-th of kJctParts parts; empty if there are none.
  std::vector<TimeUs> jct_us;
  RunSeries series;
};
inline constexpr std::size_t kJctParts = 200;

[[nodiscard]] std::vector<TimeUs> jct_quantiles(const Workload& workload,
                                                const SimulationResult& result);

[[nodiscard]] nlohmann::ordered_json to_json(const RunRecord& record);
// Nothing if it is not of that form.
[[nodiscard]] std::optional<RunRecord> run_record_from_json(const nlohmann::ordered_json& json);

// Collects a RunSeries from the events of a run. Bins grow with the run: at most kMostBins, at
// least half of them used.
class RunSeriesLog final : public EventLog {
 public:
  static constexpr std::size_t kMostBins = 240;

  // `workload` must outlive it.
  RunSeriesLog(const Cluster& cluster, const Workload& workload);

  void write(TimeUs at_us, EventKind kind, std::uint32_t id, std::span<const Placement> places,
             std::span<const TaskCopy> copies) override;
  // Until the last event.
  [[nodiscard]] RunSeries series() const;

 private:
  struct Bin {
    double waiting_us = 0;  // jobs times microseconds
    double held_us = 0;     // thousandths of GPUs times microseconds
  };
  void pass_to(TimeUs at_us);
  void set_held(std::uint32_t job, std::span<const Placement> places, std::size_t copies);

  const Workload& workload_;
  std::vector<bool> waits_;            // by JobId
  std::vector<bool> never_;            // by JobId: cannot run on this cluster
  std::vector<std::int64_t> held_of_;  // by JobId
  std::vector<Bin> bins_;
  TimeUs bin_us_ = kUsPerS;
  TimeUs now_us_ = 0;
  std::int64_t waiting_ = 0;
  std::int64_t held_ = 0;
};

}  // namespace berth
