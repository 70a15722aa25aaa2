// Who runs in a pool in which counts do not tell what fits: jobs that accept only some of its GPU
// types, or that share devices. The rule is SrtfPool's, each job tried on real places:
//
// Go through all jobs, running and waiting, by remaining time (ties by JobId). A running job keeps
// its places, unless a job before it took them. Any other takes free places, or else those of
// running jobs after it, the last in the order first; if even those are too few, it is passed over.
#pragma once

#include <span>
#include <vector>

#include "model/view.h"
#include "place/free_index.h"
#include "policy/srtf/pool.h"

namespace berth {

class PlaceWalk {
 public:
  struct Stop {
    JobId job;
    JobId displaced_by;
    bool goes_on = false;  // elsewhere: it is among the starts too
  };
  struct Start {
    JobId job;
    std::vector<Placement> places;
  };

  PlaceWalk(const ClusterView& view, SrtfPool& pool, FreeIndex& free);

  // To be applied in this order: all stops, then all starts. `free` has them applied already.
  [[nodiscard]] const std::vector<Stop>& stops() const { return stops_; }
  [[nodiscard]] const std::vector<Start>& starts() const { return starts_; }

 private:
  struct Runner {
    OrderedBlocks::Entry entry;  // key: end
    GpuTypeMask types = 0;       // of the devices that it holds
    bool holds = true;
    bool goes_on = false;
    JobId displaced_by;
  };

  void walk(SrtfPool& pool);
  void visit_runner();
  bool start(JobId id);
  bool make_room(const Job& job, JobId id);
  [[nodiscard]] bool enough_behind(const Job& job) const;

  const ClusterView& view_;
  FreeIndex& free_;
  std::vector<Runner> runners_;  // in order
  std::size_t next_ = 0;         // the first runner not visited
  std::size_t displaced_ = 0;    // of those not visited
  std::vector<std::size_t> moved_;
  std::vector<Stop> stops_;
  std::vector<Start> starts_;
};

}  // namespace berth
