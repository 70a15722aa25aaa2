// Which jobs run where: the best of many plans that are tried on a copy of what is free.
//
// A plan is an order. Jobs that are pinned keep their places; the others go in the order, each to
// its own places if they are still free, else elsewhere, else nowhere. Its value is what the jobs
// that run are worth per second, less what those lose that are moved or stopped. The search starts
// from the plan in which everybody who runs is pinned; then each job that waits tries to displace
// those of less density; then changes at random, of which those are kept that are worth more.
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
  double value = 0;        // per second, if all of it runs
  double density = 0;      // value per GPU: the order
  double loss = 0;         // of value, if it is moved or stopped
  std::uint32_t runs = 0;  // replicas
  bool may_leave = true;   // of one that runs
};

// What becomes of a candidate.
struct Outcome {
  std::vector<std::uint32_t> lost;   // replicas that leave their places
  std::vector<Placement> added;      // places of further ones, replica by replica
};

struct SearchEffort {
  std::uint32_t tries = 40;        // changes at random on a small cluster
  std::uint32_t devices = 3'200;   // that they may look at: on a large one fewer tries are made
};

class PlanSearch {
 public:
  // `candidates`: those that run first, then those that wait, each by density, the densest first.
  // All must outlive it.
  PlanSearch(const ClusterView& view, const Room& free, std::span<const Candidate> candidates);

  void improve(const SearchEffort& effort, Rng& rng);

  [[nodiscard]] double value() const { return best_.value; }
  // By candidate. `left`: what is free then.
  [[nodiscard]] std::vector<Outcome> outcomes(Room& left);

 private:
  struct Arrangement {
    std::vector<std::uint32_t> order;   // candidates
    std::vector<std::uint8_t> pinned;   // by candidate
    std::vector<std::uint32_t> placed;  // by candidate: replicas that run then
    double value = 0;
  };

  [[nodiscard]] const Job& job(std::uint32_t c) const { return view_.job(candidates_[c].id); }
  void evaluate(Arrangement& plan, std::vector<Outcome>* outcomes);
  std::uint32_t keep_own(std::uint32_t c, Outcome* outcome);
  std::uint32_t add_replicas(std::uint32_t c, std::uint32_t wanted, Outcome* outcome);
  void displace_for_each();
  [[nodiscard]] bool displace_for(std::uint32_t c);
  void change_at_random(Arrangement& plan, Rng& rng);
  void accept_if_better();

  const ClusterView& view_;
  const Room& free_;
  std::span<const Candidate> candidates_;
  std::uint32_t running_ = 0;  // the first so many candidates run
  Arrangement best_;
  Arrangement trial_;
  Room room_;                             // scratch
  std::vector<Placement> places_;         // scratch
  std::vector<std::uint32_t> unplaced_;   // scratch
};

}  // namespace berth
