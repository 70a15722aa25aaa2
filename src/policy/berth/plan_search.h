// Which jobs run where: the best of many plans that are tried on a copy of what is free.
//
// A plan is an order. Jobs that are pinned keep their places; the others go in the order, each to
// its own places if they are still free, else elsewhere, else nowhere. Of a job of several replicas
// as many run as find room. A plan's value is what the jobs that run then are worth together, less
// what those lose that are moved or stopped.
//
// The search starts from the plan in which everybody who runs is pinned. Then each job that waits,
// the densest first, tries to displace those of less density. Then the plan is changed at random
// again and again; a change stays if it makes the plan worth more. If everybody runs in the best
// plan there is no need to pack tightly: those that start then keep out of each other's way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "model/view.h"
#include "place/room.h"

namespace berth {

// A job that runs or may run.
struct Candidate {
  JobId id;
  double value = 0;        // if all of it runs
  double density = 0;      // the order
  double loss = 0;         // of value, if all of it is moved or stopped
  std::uint32_t runs = 0;  // replicas
  bool may_leave = false;  // of one that runs
  double gpus = 0;         // that it takes, if all of it runs
  bool displaces = true;   // of one that waits: it is tried whether it displaces others
};

// What becomes of a candidate.
struct Outcome {
  std::vector<std::uint32_t> lost;  // replicas that leave their places
  std::vector<Placement> added;     // places of further replicas, one after the other
};

class PlanSearch {
 public:
  // `candidates`: those that run first, then those that wait, each by density, the densest first.
  // Both must outlive the search, and so must the view; `free` is what is free in it.
  void begin(const ClusterView& view, const Room& free, std::span<const Candidate> candidates);
  // Tries so many changes at random.
  void improve(std::uint32_t tries, Rng& rng);

  [[nodiscard]] double value() const { return best_.value; }
  // By candidate. `left`: what is free then; may be what begin() was given.
  void finish(std::vector<Outcome>& outcomes, Room& left);

 private:
  struct Plan {
    std::vector<std::uint32_t> order;   // candidates
    std::vector<std::uint8_t> pinned;   // by candidate
    std::vector<std::uint32_t> placed;  // by candidate: replicas that run then
    double value = 0;
  };

  [[nodiscard]] const Job& job(std::uint32_t c) const { return view_->job(candidates_[c].id); }
  void free_all_but_pinned(const Plan& plan);
  void evaluate(Plan& plan, std::vector<Outcome>* outcomes, bool spreads = false);
  [[nodiscard]] bool all_run(const Plan& plan) const;
  std::uint32_t keep_own(std::uint32_t c, Outcome* outcome);
  std::uint32_t add_replicas(std::uint32_t c, std::uint32_t wanted, Outcome* outcome);
  [[nodiscard]] bool displace_for(std::uint32_t c);
  void put(Plan& plan, std::uint32_t c, std::size_t position) const;
  void change_at_random(Plan& plan, Rng& rng);
  void try_it();

  const ClusterView* view_ = nullptr;
  const Room* free_ = nullptr;
  std::span<const Candidate> candidates_;
  std::uint32_t running_ = 0;  // the first so many candidates run
  Plan best_;
  Plan trial_;
  Room room_;
  std::vector<Placement> places_;        // scratch
  std::vector<std::uint32_t> lost_;      // scratch, by candidate: replicas
  std::vector<std::uint32_t> unplaced_;  // scratch: candidates that wait in the best plan
};

}  // namespace berth
