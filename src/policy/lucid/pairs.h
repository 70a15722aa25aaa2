// Which jobs share devices: Lucid's indolent packing (lucid.h has the paper's rules).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "place/empty_devices.h"
#include "place/free_index.h"
#include "policy/policy.h"

namespace berth {

struct PackingRules {
  double tiny_util = 0.4;   // a job that uses at most so much of its devices scores 0
  double jumbo_util = 0.7;  // one that uses more than this scores 2, the others 1
  double most_score = 2;    // of a pair together
  double most_gpus = 1e6;   // of a job that shares
  double most_ratio = 3;    // its priority value is at most so many times that of the job it joins
};

// Lucid's sharing score of a job that keeps this part of its devices busy.
[[nodiscard]] int sharing_score(const PackingRules& rules, double utilisation);

// The part of a device that a task of the job keeps busy: as declared, or as measured (computing
// units or memory bandwidth, of its busiest task) once it has run, whichever is more.
[[nodiscard]] double utilisation(const ClusterView& view, JobId id);

// Predicted run time x GPUs in GPU-microseconds: small goes first. Large where nobody can tell.
[[nodiscard]] std::int64_t lucid_priority(const Job& job, const Predictors& predictors, JobId id);

// Places a job beside the first one of as many GPUs that the rules allow for, task by task, else on
// empty devices.
class PairPlacer final : public EmptyDevicesPlacer {
 public:
  PairPlacer(FreeIndex& free, const PackingRules& rules)
      : EmptyDevicesPlacer(free), rules_(rules) {}

  // A new round with nobody to join.
  void begin(const ClusterView& view, const Predictors& predictors);
  // Another may join this one, which runs there or is to, if it has its devices for itself.
  void add_host(JobId id, std::span<const Placement> places);

  [[nodiscard]] bool fits(const Job& job) const override;
  [[nodiscard]] bool take(JobId id, const Job& job, std::vector<Placement>& places) override;

 private:
  struct Host {
    JobId id;
    int score = 0;
    std::int64_t priority = 0;
    std::vector<Placement> places;
  };

  [[nodiscard]] bool may_share(const Job& job) const;
  [[nodiscard]] bool has_room(const Host& host, const Job& job) const;
  bool join(JobId id, const Job& job, std::vector<Placement>& places);

  const PackingRules& rules_;
  const ClusterView* view_ = nullptr;
  const Predictors* predictors_ = nullptr;
  std::map<std::uint32_t, std::vector<Host>> hosts_;  // by their number of GPUs
};

}  // namespace berth
