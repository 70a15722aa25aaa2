// A run as a picture: the Chrome trace event format ("Trace Event Format", Google, 2016), which
// Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/event_log.h"
#include "engine/workload.h"
#include "model/cluster.h"

namespace berth {

// A process for each server with a thread for each GPU and one for tasks without a GPU; what shares
// a GPU gets further threads, so that slices of one thread never overlap. A slice for each time
// that a task, or a copy of it, runs in one place, counters of pending jobs and of GPUs that hold a
// task, and an instant for each fault. Times are in microseconds of the run. Kept in memory: about
// 120 bytes a slice.
class Timeline final : public EventLog {
 public:
  // Both must outlive it.
  Timeline(const Cluster& cluster, const Workload& workload);

  void write(TimeUs at_us, EventKind kind, std::uint32_t id, std::span<const Placement> places,
             std::span<const TaskCopy> copies) override;

  // Ends the slices of what still runs at the last event, and gives the whole file. Once only.
  [[nodiscard]] std::string finish();

 private:
  struct Slice {
    Placement place;  // invalid server: none open
    std::uint32_t lane = 0;
    TimeUs since_us = 0;
  };
  struct CopySlice {
    std::uint32_t job = 0;
    std::uint32_t task = 0;
    Slice slice;
  };
  // Which lanes of a GPU, or of the tasks of a server that need none, are taken.
  using Lanes = std::vector<bool>;

  void settle_counters(TimeUs now_us);
  void place_tasks(std::uint32_t job, std::span<const Placement> places,
                   std::span<const TaskCopy> copies, std::string_view why);
  void close_copies(std::uint32_t job, std::span<const TaskCopy> staying, std::string_view why);
  void open_copies(std::span<const TaskCopy> copies);
  void open_slice(Slice& slice, Placement place);
  void close_slice(Slice& slice, std::uint32_t job, std::uint32_t task, std::string_view why,
                   std::string_view more = {});
  void add_instant(std::string_view name, ServerId server, DeviceId device);
  void name_process(std::uint64_t pid, std::string_view name);
  void name_thread(Placement place, std::uint32_t lane);
  [[nodiscard]] Lanes& lanes_of(Placement place);
  [[nodiscard]] std::uint64_t thread_of(Placement place, std::uint32_t lane) const;

  const Cluster& cluster_;
  const Workload& workload_;
  std::string text_;
  TimeUs now_us_ = 0;
  static constexpr std::size_t kNotStarted = SIZE_MAX;
  std::vector<std::size_t> first_slice_;  // by JobId: its tasks' in slices_
  std::vector<Slice> slices_;
  std::vector<CopySlice> copies_;  // that are open
  std::vector<bool> running_;      // by JobId
  std::vector<Lanes> lanes_;       // by DeviceId, then by ServerId
  std::int64_t pending_ = 0;
  std::int64_t busy_gpus_ = 0;
  std::int64_t shown_pending_ = -1;
  std::int64_t shown_busy_ = -1;
};

}  // namespace berth
