// The frame of a policy that ranks jobs and lets those run that go first (place_walk.h), with what
// keeps such policies from thrashing and from starving:
//
// - Ranks are of the last multiple of a round's length, so that they change in steps, and between
//   two steps only with the state of their own job.
// - A job that was started runs for a least time before it is preempted (its quantum).
// - Patience, where it has a limit: a job that has waited for so long without a break goes before
//   all others, the longest wait first, has what is free kept for it, and is not preempted for
//   others once it runs. Such jobs together take at most a share of the cluster, or one of them at
//   a time, whatever it takes: under overload everybody waits for long, and the order must still
//   mean something.
#pragma once

#include <vector>

#include "base/id_set.h"
#include "base/ordered_blocks.h"
#include "place/placer.h"
#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/patience.h"
#include "policy/common/waiting_jobs.h"

namespace berth {

struct RankedSettings {
  double round_s = 60;
  double least_run_s = 300;
  double patience_h = 0;        // 0: without a limit
  double patient_share = 0.25;  // of the GPUs

  // For read_options(): round_s, least_run_s, patience_h, patient_share.
  [[nodiscard]] std::vector<NumberSetting> numbers();
};

class RankedPolicy : public CachedPolicy {
 protected:
  using Rank = std::int64_t;
  static constexpr Rank kLastRank = kNever;

  // `preempts`: whether running jobs give way to those that go before them.
  RankedPolicy(const RankedSettings& settings, bool preempts);

  // Smaller goes first, ties by JobId; at least 0, at most kLastRank. Of a job that waits or runs,
  // by its state and `as_of_us`, the last multiple of the round: nothing else, so that it is the
  // same whenever it is asked for.
  [[nodiscard]] virtual Rank rank(const Round& round, JobId id, TimeUs as_of_us) = 0;
  // Whether ranks of waiting jobs change from round to round.
  [[nodiscard]] virtual bool waiting_ranks_change() const { return true; }
  // Whether ranks of running jobs depend on what these report, which changes between rounds: they
  // are asked for anew whenever somebody needs room that is not free.
  [[nodiscard]] virtual bool running_ranks_follow_reports() const { return false; }
  // Whether ranks depend on more than their own job. Then all are asked for anew at every decision
  // at which somebody waits, as of now, after look_at_all().
  [[nodiscard]] virtual bool ranks_depend_on_all() const { return false; }
  virtual void look_at_all(const Round& /*round*/) {}

  // For look_at_all(): those that wait and those that run, in no particular order.
  template <class Visit>
  void for_each_active(Visit visit) const {
    by_wait_.for_each([&](const OrderedBlocks::Entry& entry) { visit(JobId{entry.id}); });
    running_.for_each([&](std::uint32_t j) { visit(JobId{j}); });
  }
  // How jobs are placed; null: as the index of free places likes. Asked for at every decision at
  // which somebody waits.
  [[nodiscard]] virtual Placer* placer(const Round& /*round*/) { return nullptr; }
  // Whether what is free is kept for a job that needs what others may not leave yet.
  [[nodiscard]] virtual bool keeps_room() const { return true; }
  // Whether, of the jobs that start at once, those that are hard to place have the choice.
  [[nodiscard]] virtual bool places_widest_first() const { return false; }
  // Called for every job that ended, in no particular order, and after reset() for all of them.
  virtual void note_ended(const Round& /*round*/, JobId /*id*/) {}
  // Called after reset() before any job is filed.
  virtual void forget() {}

  // What a policy does beyond the order, at every decision: before anybody is placed; after the
  // walk, if somebody still waits; and last of all.
  virtual void tend_running(const Round& /*round*/) {}
  virtual void fill_up(const Round& /*round*/, const PlaceWalk& /*walk*/) {}
  virtual void use_what_is_left(const Round& /*round*/) {}

  // Those that run, as the view has it, but for those that were taken off.
  [[nodiscard]] const IdSet& running_jobs() const { return running_; }
  // Those that wait; key: since when.
  [[nodiscard]] const OrderedBlocks& waiting_jobs() const { return by_wait_; }
  // For fill_up(): starts a job that waits on places that were taken from free_.
  void start_waiting(const Round& round, JobId id, std::span<const Placement> places);
  // For tend_running(): a running job stops, and its places are free.
  void take_off(const Round& round, JobId id);
  // For tend_running(): a running job that was acted on otherwise stays out of this plan.
  void leave_alone(JobId id);

  void reset(const Round& round) final;
  void file_job(const Round& round, JobId id) final;
  void make_plan(const Round& round) final;

  [[nodiscard]] TimeUs round_of(TimeUs now_us) const { return now_us - now_us % round_us_; }
  [[nodiscard]] TimeUs next_round(TimeUs now_us) const { return round_of(now_us) + round_us_; }
  // The instant that ranks are of.
  [[nodiscard]] TimeUs as_of(TimeUs now_us) const {
    return ranks_depend_on_all() ? now_us : round_of(now_us);
  }

 private:
  void leave(JobId id);
  void serve_waiting(const Round& round);
  void rank_waiting(const Round& round);
  [[nodiscard]] const OrderedBlocks& rank_running(const Round& round);
  [[nodiscard]] Rank running_rank(const Round& round, JobId id);
  void list_privileged(const Round& round);
  void give_reasons(const Round& round, const PlaceWalk& walk, bool to_all);
  [[nodiscard]] TimeUs next_wake(const Round& round, bool some_run) const;

  TimeUs round_us_;
  TimeUs least_run_us_;
  Patience patience_;
  bool preempts_;

  WaitingJobs waiting_;
  OrderedBlocks by_wait_;  // waiting; key: since when
  TimeUs waiting_as_of_us_ = -1;
  TimeUs reasons_as_of_us_ = -1;  // the round in which everybody was given one
  IdSet running_;
  OrderedBlocks running_order_;
  TimeUs running_as_of_us_ = -1;       // -1: running_order_ is stale
  std::vector<std::uint8_t> patient_;  // by JobId: runs, having waited for so long
  std::int64_t patient_milli_ = 0;     // that those hold
  std::vector<TimeUs> since_;          // by JobId, of waiting ones
  std::vector<JobId> newly_filed_;
  std::vector<JobId> privileged_;  // scratch
};

}  // namespace berth
