// Who runs when jobs go before others, each tried on real places: the core of preemptive policies.
//
// Go through all jobs, running and waiting, in the order of their keys (ties by JobId). A running
// job keeps its places, unless a job before it took them. Any other takes free places, or else
// those of running jobs after it, the last in the order first, but only of jobs that have run for
// their least time; if even those are too few, it is passed over. A job that would fit but for
// those that have not run long enough has what is free kept for it: nobody after it starts on its
// GPU types. Privileged jobs go first of all, and have what is free kept for them in any case.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ordered_blocks.h"
#include "model/view.h"
#include "place/free_index.h"
#include "place/placer.h"
#include "policy/common/kept_room.h"
#include "policy/common/refused_demands.h"
#include "policy/common/waiting_jobs.h"

namespace berth {

// A policy does not know what starting costs: a job that is stopped again and again before it gets
// anywhere must at some time be left alone for long enough, whatever that is.
inline constexpr std::uint32_t kPatientPreemptions = 16;
[[nodiscard]] TimeUs least_run_us(const JobState& state, TimeUs least_us);

class PlaceWalk {
 public:
  using Key = std::int64_t;
  struct Stop {
    JobId job;
    JobId displaced_by;
    bool goes_on = false;  // elsewhere: it is among the starts too
  };
  struct Start {
    JobId job;
    std::vector<Placement> places;
  };
  struct Rules {
    bool preempts = true;
    TimeUs least_run_us = 0;  // a job that started later than this long ago does not leave; it
                              // doubles with every kPatientPreemptions that the job has suffered
    Key waiting_offset = 0;   // added to the keys of waiting jobs
    std::span<const JobId> privileged = {};  // of those that wait, in order
    Placer* placer = nullptr;                // null: places are taken from the index as it likes
    // Whether a job that would fit but for those that have not run long enough has what is free
    // kept for it.
    bool keeps = true;
    // Once it is clear who starts, they are placed again, those of the most tasks first (of equals,
    // the first in the order): the others fit around them.
    bool widest_first = false;
  };
  // The jobs that run: key, and as weight the thousandths of GPUs that they hold, as the placer
  // counts them. Asked for once somebody needs room that is not free.
  using Running = std::function<const OrderedBlocks&()>;

  // Of a class of waiting jobs whose first fails all fail, as room only shrinks along the order.
  PlaceWalk(const ClusterView& view, FreeIndex& free, const Running& running,
            const WaitingJobs& waiting, const Rules& rules);

  // To be applied in this order: all stops, then all starts. `free` has them applied already.
  [[nodiscard]] const std::vector<Stop>& stops() const { return stops_; }
  [[nodiscard]] const std::vector<Start>& starts() const { return starts_; }
  [[nodiscard]] const std::vector<KeptRoom>& kept() const { return kept_.all(); }

 private:
  struct Runner {
    OrderedBlocks::Entry entry;
    GpuTypeMask types = 0;  // of the devices that it holds
    bool holds = true;
    bool may_leave = true;
    bool goes_on = false;
    JobId displaced_by;
  };

  // The next job of a class, first in the order on top of a heap; none once one of the class was
  // passed over.
  struct Head {
    OrderedBlocks::Entry entry;  // its key as it counts in the walk
    std::size_t job_class = 0;
    bool operator<(const Head& other) const { return other.entry < entry; }
  };

  void walk();
  void list_heads();
  void visit_head();
  void drop_refused_heads();
  [[nodiscard]] bool keeps_nothing(const Job& job, const OrderedBlocks::Entry& at) const;
  void place_widest_first();
  [[nodiscard]] bool fits(const Job& job) const;
  [[nodiscard]] std::int64_t asked_milli(const Job& job) const;
  [[nodiscard]] std::int64_t free_milli(GpuTypeMask types) const;
  [[nodiscard]] bool needs_whole_devices(const Job& job) const;
  [[nodiscard]] bool take(JobId id, const Job& job, std::vector<Placement>& places);
  void list_runners();
  void sum_runners();
  void visit_runner();
  bool start(JobId id, Key key);
  [[nodiscard]] bool find_room(const Job& job, JobId id, Key key);
  [[nodiscard]] bool find_whole_devices(const Job& job, JobId id, Key key);
  [[nodiscard]] bool others_hold_enough(const Job& job, JobId id, Key key);
  bool make_room(const Job& job, JobId id, Key key);
  [[nodiscard]] bool enough_devices_from(std::size_t first, const Job& job);
  [[nodiscard]] std::size_t first_after(Key key, JobId id);
  [[nodiscard]] bool enough_from(std::size_t first, bool all, const Job& job) const;
  [[nodiscard]] bool privileged_started(JobId id) const;

  const ClusterView& view_;
  FreeIndex& free_;
  const Running& ask_running_;
  const OrderedBlocks* running_ = nullptr;  // once asked for
  const WaitingJobs& waiting_;
  const Rules& rules_;
  std::vector<Runner> runners_;  // in order, once somebody looks for room among them
  // By runner: what those from there on hold, and those of them that may leave.
  struct Held {
    std::int64_t milli = 0;
    std::int64_t may_leave_milli = 0;
  };
  std::vector<Held> held_from_;
  std::vector<Head> heads_;
  GpuTypeMask types_held_ = 0;  // by any of them
  std::size_t after_ = 0;       // the first runner after the job that was asked for last
  std::size_t next_ = 0;        // the first runner not visited
  std::size_t displaced_ = 0;   // of those not visited
  // By a placer that goes by demands: for want of devices alone, and for whatever reason.
  RefusedDemands short_of_devices_{RefusedDemands::Host::kNobody};
  RefusedDemands refused_;
  std::vector<std::size_t> moved_;
  struct Regained {
    std::int64_t milli = 0;
    std::int64_t mib = 0;
  };
  std::vector<Regained> regained_;   // scratch, by device; zero between uses
  std::vector<DeviceId> gets_back_;  // scratch: where it is not
  std::vector<Stop> stops_;
  std::vector<Start> starts_;
  KeptRooms kept_;
};

}  // namespace berth
