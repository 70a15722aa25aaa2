#include "policy/gandiva/gandiva.h"

#include <algorithm>
#include <cmath>

#include "place/affinity.h"
#include "place/empty_devices.h"
#include "policy/common/options.h"
#include "policy/common/place_walk.h"
#include "policy/common/ranked_policy.h"
#include "policy/common/replicas.h"
#include "policy/gandiva/packing.h"
#include "policy/gandiva/tenants.h"

namespace berth {
namespace {

struct GandivaSettings {
  double trial_s = 120;        // from the start of a packed job to the verdict on it
  double packs = 1;            // 0: never
  double least_gain = 0;       // what packing must bring, as a part of the packed job's GPUs
  double migrate_loss = 0.05;  // what sharers must lose for a move, as a part of its GPUs
};

class Gandiva final : public RankedPolicy {
 public:
  Gandiva(const RankedSettings& settings, const GandivaSettings& own)
      : RankedPolicy(settings, true), own_(own), trial_us_(us_of(own.trial_s, kUsPerS)) {}

 protected:
  // Round robin: all that run are behind all that wait, the longest run last (whoever has not had
  // its turn does not leave); who waits is in order of when it began to.
  Rank rank(const Round& round, JobId id, TimeUs as_of_us) override {
    const JobState& state = round.view.state(id);
    if (state.status == JobStatus::kRunning) {
      return std::min(kLastRank, kRuns + std::max<TimeUs>(0, as_of_us - state.last_start_us));
    }
    return waits_since(round.view.job(id), state);
  }
  // Keeping room for a wide job until enough turns have ended costs more than its wait.
  [[nodiscard]] bool keeps_room() const override { return false; }

  Placer* placer(const Round& round) override {
    placer_.begin(round.view, running_jobs());
    return &placer_;
  }

  void tend_running(const Round& round) override;
  void fill_up(const Round& round, const PlaceWalk& walk) override;

 private:
  static constexpr Rank kRuns = kNever / 2;

  void judge(const Round& round, const Tenants& tenants);
  void migrate(const Round& round, const Tenants& tenants);
  void move_to_empty(const Round& round, JobId id);

  GandivaSettings own_;
  TimeUs trial_us_;
  AffinityPlacer placer_{free_};
  std::vector<Placement> places_;  // scratch
};

void Gandiva::tend_running(const Round& round) {
  const Tenants tenants(round.view, running_jobs());
  if (tenants.guests().empty()) return;
  judge(round, tenants);
  if (waiting_jobs().empty()) migrate(round, tenants);
}

// Packing is undone where it brings no more than time slicing would.
void Gandiva::judge(const Round& round, const Tenants& tenants) {
  for (const JobId id : tenants.guests()) {
    const TimeUs judged_us = round.view.state(id).last_start_us + trial_us_;
    if (round.view.now_us < judged_us) {
      round.plan.wake_us = std::min(round.plan.wake_us, judged_us);
      continue;
    }
    const auto gain = tenants.gain(id);
    if (gain && *gain <= own_.least_gain * round.view.job(id).workers()) {
      take_off(round, id);
      round.plan.wake_us = round.view.now_us + 1;
    }
  }
}

void Gandiva::move_to_empty(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  if (!take_empty(free_, job, places_)) return;
  free_.give_back(job, round.view.placements_of(id));
  for (std::uint32_t k = 0; k < job.tasks; ++k) {
    round.plan.actions.push_back(
        {.kind = ActionKind::kMoveTask, .job = id, .task = k, .to = places_[k]});
  }
  file_again(id);
}

// From shared devices to empty ones, where the sharers lose enough.
void Gandiva::migrate(const Round& round, const Tenants& tenants) {
  for (const JobId id : tenants.guests()) {
    const Job& job = round.view.job(id);
    const bool whole = round.view.state(id).tasks_placed == job.tasks;
    if (!whole || !running_jobs().contains(id.value) || !fits_empty(free_, job)) continue;
    const auto gain = tenants.gain(id);
    if (!gain || job.workers() - *gain < own_.migrate_loss * job.workers()) continue;
    move_to_empty(round, id);
  }
}

void Gandiva::fill_up(const Round& round, const PlaceWalk& walk) {
  if (own_.packs == 0) return;
  PackingHosts hosts(round.view, free_);
  running_jobs().for_each([&](std::uint32_t j) {
    const bool stays = std::ranges::none_of(
        walk.stops(), [&](const PlaceWalk::Stop& stop) { return stop.job.value == j; });
    if (stays) hosts.add(JobId{j});
  });
  hosts.sort();
  std::vector<JobId> guests;
  waiting_jobs().for_each([&](const OrderedBlocks::Entry& entry) {
    const JobId id{entry.id};
    if (hosts.may_fit(round.view.job(id))) guests.push_back(id);
  });
  std::sort(guests.begin(), guests.end(), [&](JobId a, JobId b) {
    const auto milli = [&](JobId id) { return round.view.job(id).gpu_milli_per_task; };
    return milli(a) != milli(b) ? milli(a) < milli(b) : a < b;
  });
  for (const JobId id : guests) {
    if (!hosts.take(id, places_)) continue;
    start_waiting(round, id, places_);
    round.plan.wake_us = std::min(round.plan.wake_us, round.view.now_us + trial_us_);
  }
}

}  // namespace

Result<std::unique_ptr<Policy>> make_gandiva(std::span<const PolicyOption> options) {
  RankedSettings settings{.least_run_s = 1'200};
  GandivaSettings own;
  const NumberSetting numbers[] = {
      {"round_s", &settings.round_s, 0.001, 86'400},
      {"quantum_s", &settings.least_run_s, 0, 86'400},
      {"patience_h", &settings.patience_h, 0, 1e6},
      {"patient_share", &settings.patient_share, 0, 1},
      {"trial_s", &own.trial_s, 0.001, 86'400},
      {"packs", &own.packs, 0, 1},
      {"least_gain", &own.least_gain, -1, 1},
      {"migrate_loss", &own.migrate_loss, 0, 1e6},
  };
  BERTH_CHECK_OK(read_options("gandiva", options, numbers));
  return std::make_unique<Gandiva>(settings, own);
}

}  // namespace berth
