// Servers that keep to jobs of one width, so that they come free together (Xiao et al., OSDI 2018,
// algorithm 1).
#pragma once

#include <cstdint>
#include <vector>

#include "base/id_set.h"
#include "place/empty_devices.h"
#include "place/free_index.h"

namespace berth {

// Places a job on empty devices of one server: of a server whose jobs have as many GPUs as it has;
// else of one without jobs; else of any. Among equals the least loaded, that is the one with the
// most empty devices. A job that no server holds goes to as few servers as possible, on devices
// that are empty too.
class AffinityPlacer final : public EmptyDevicesPlacer {
 public:
  explicit AffinityPlacer(FreeIndex& free) : EmptyDevicesPlacer(free) {}

  // A new round: these run. All must outlive the round.
  void begin(const ClusterView& view, const IdSet& running);

  [[nodiscard]] bool fits(const Job& job) const override;
  [[nodiscard]] bool take(JobId id, const Job& job, std::vector<Placement>& places) override;

  // How many GPUs the first job on the server has; 0: nothing with a GPU runs there.
  [[nodiscard]] std::uint32_t affinity(ServerId server);

 private:
  void note(const Job& job, std::span<const Placement> places);
  void read_affinities();
  [[nodiscard]] ServerId best_server(const Job& job);

  const ClusterView* view_ = nullptr;
  const IdSet* running_ = nullptr;
  bool known_ = false;                     // affinities_ were read in this round
  std::vector<std::uint32_t> affinities_;  // by ServerId
};

}  // namespace berth
