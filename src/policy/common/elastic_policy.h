// The frame of a policy that decides how many replicas each job has, by what one more is worth:
//
// - At each multiple of an interval all replicas of all jobs, running and waiting, go in the order
//   of their worth as far as they find room (replica_walk.h): so jobs shrink, grow, start and are
//   preempted. Between two multiples, when jobs arrive or end, what is free goes to who waits or
//   has fewer replicas than it may have, in the same order; nobody loses any.
// - A job that was started runs for a least time before it loses a replica.
// - Patience, as in ranked_policy.h: the first replica of a job that has waited for so long goes
//   before all others.
//
// Room that nobody else wants stays with who has it, whatever it is worth there.
#pragma once

#include <span>
#include <vector>

#include "base/id_set.h"
#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/patience.h"
#include "policy/common/replica_walk.h"

namespace berth {

struct ElasticSettings {
  double interval_s = 600;
  double least_run_s = 300;
  double hold = 0;              // what runs counts for so many times more than it is worth, plus 1
  double patience_h = 0;        // 0: without a limit
  double patient_share = 0.25;  // of the GPUs

  // For read_options(), under the names of the members.
  [[nodiscard]] std::vector<NumberSetting> numbers();
};

class ElasticPolicy : public CachedPolicy {
 protected:
  // `one_for_each`: each job has its first replica before any has its second, whatever that is
  // worth.
  ElasticPolicy(const ElasticSettings& settings, bool one_for_each);

  // worth[k]: what it is worth that the job has k + 1 replicas and not k, by a scale that is the
  // same for all jobs; filled with 0 beforehand, and has as many places as the job has replicas. A
  // replica is worth no more than the one before it: what is more is cut, but for the second where
  // each job has one first. Less than 0: not wanted,
  // though one that runs leaves only for another; the first is always wanted. By the view and
  // `as_of_us`, the last multiple of the interval: nothing else.
  virtual void value_replicas(const Round& round, JobId id, TimeUs as_of_us,
                              std::span<double> worth) = 0;
  // Called after reset() before any job is filed.
  virtual void forget() {}
  // Called for each job that changed.
  virtual void note(const Round& /*round*/, JobId /*id*/) {}

  // For jobs that report nothing: the least predicted remaining GPU time is worth most; without a
  // prediction first come, first served, after all others.
  static void value_by_prediction(const Round& round, JobId id, TimeUs as_of_us,
                                  std::span<double> worth);
  [[nodiscard]] TimeUs interval_us() const { return interval_us_; }

  void reset(const Round& round) final;
  void file_job(const Round& round, JobId id) final;
  void make_plan(const Round& round) final;
  [[nodiscard]] bool regrows() const final { return false; }

 private:
  [[nodiscard]] TimeUs as_of(TimeUs now_us) const { return now_us - now_us % interval_us_; }
  [[nodiscard]] bool at_multiple(TimeUs now_us) const;
  void start_without_gpu(const Round& round);
  [[nodiscard]] std::vector<ReplicaWalk::Unit> units(const Round& round, bool all);
  void add_units(const Round& round, JobId id, std::uint32_t from,
                 std::vector<ReplicaWalk::Unit>& out);
  void list_privileged(const Round& round);
  void carry_out(const Round& round, const ReplicaWalk& walk);
  void give_reasons(const Round& round, const ReplicaWalk& walk, bool to_all);
  [[nodiscard]] TimeUs next_wake(const Round& round) const;

  TimeUs interval_us_;
  TimeUs least_run_us_;
  double hold_;
  Patience patience_;
  bool one_for_each_;

  IdSet waiting_;
  IdSet waiting_without_gpu_;
  IdSet running_;
  IdSet privileged_;  // scratch: waiting ones
  std::vector<JobId> newly_filed_;
  std::vector<double> worth_;  // scratch
};

}  // namespace berth
