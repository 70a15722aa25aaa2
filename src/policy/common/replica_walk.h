// Who runs, and with how many replicas, when replicas go before others: what place_walk.h does with
// jobs, for jobs that can do with fewer replicas than they asked for.
//
// Go through the replicas of all jobs in order, each job's first one first. One that runs stays,
// unless one before it took its places. Any other takes free places, or else those of replicas
// after it, the last in the order first, but only of such that may leave; if even those are too
// few, it is passed over, and with it whatever asks for as much. If it would fit but for replicas
// that may not leave yet, or if it is privileged, what is free is kept for it: nothing after it
// starts on its GPU types. A job of one replica is a gang: all of it or nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/view.h"
#include "place/free_index.h"
#include "policy/common/kept_room.h"
#include "policy/common/refused_demands.h"

namespace berth {

class ReplicaWalk {
 public:
  struct Unit {
    double worth = 0.0;  // more goes first; ties by job
    JobId job;
    std::uint32_t number = 1;  // of how many replicas of the job this is the last
    std::uint8_t tier = 0;     // less goes first, whatever it is worth
    bool privileged = false;   // what is free is kept for it if it is too little
    bool runs = false;
    bool may_leave = true;
  };
  struct ReplicaStart {
    std::uint32_t replica = 0;
    std::vector<Placement> places;
  };
  struct Change {
    std::vector<std::uint32_t> staying;  // replicas that go on
    std::vector<std::uint32_t> leaving;
    JobId displaced_by;                // where one leaves
    std::vector<ReplicaStart> starts;  // some of those that leave may be among them
  };

  // Takes from `free` what starts and gives back what leaves. `units`: in any order of jobs, those
  // of one together and in their order, first those that run.
  ReplicaWalk(const ClusterView& view, FreeIndex& free, std::span<const Unit> units);

  // By JobId, of each job that does not just go on. To be applied in this order: all that leave,
  // then all that start.
  [[nodiscard]] const std::map<std::uint32_t, Change>& changes() const { return changes_; }
  [[nodiscard]] std::span<const KeptRoom> kept() const { return kept_.all(); }

 private:
  struct Moved {
    std::size_t runner = 0;
    std::uint32_t replica = 0;
  };
  // Those of one job that do not run yet, in order, from wanted_[next] on.
  struct Wish {
    std::size_t next = 0;
    std::size_t end = 0;
  };

  void walk(std::vector<Wish>& wishes);
  [[nodiscard]] bool visit(const Unit& unit);
  [[nodiscard]] bool make_room(const Unit& unit, const Job& replica);
  [[nodiscard]] bool enough(const Job& replica, bool all) const;
  void leave(const Moved& moved);
  void stay(const Moved& moved);
  [[nodiscard]] Change& change_of(JobId id);
  [[nodiscard]] std::uint32_t loneliest(JobId id, const Change& change) const;
  void settle_places();
  void take_anew(const std::vector<JobId>& starting);

  const ClusterView& view_;
  FreeIndex& free_;
  std::vector<Unit> wanted_;     // that do not run, job by job
  std::vector<Unit> runners_;    // that run, in order
  std::size_t next_runner_ = 0;  // the first after the unit that is visited
  std::vector<Moved> moved_;     // scratch
  RefusedDemands refused_;
  KeptRooms kept_;
  std::map<std::uint32_t, Change> changes_;  // by JobId
  std::vector<Placement> places_;            // scratch
};

}  // namespace berth
