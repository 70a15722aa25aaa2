// A queue in order of arrival whose head goes first: the jobs, the head, and everyone's reason.
#pragma once

#include <vector>

#include "base/id_set.h"
#include "policy/common/cached_policy.h"

namespace berth {

class FifoPolicyBase : public CachedPolicy {
 protected:
  static constexpr std::uint32_t kSlot = 0;

  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;

  // Starts heads while they fit; the head that does not, or an invalid id.
  JobId start_heads(const Round& round);
  // The reasons of the blocked head, of its predecessor, and of jobs filed since the last round.
  void give_reasons(const Round& round, JobId head);

  // A pending job enters or leaves the queue.
  virtual void enqueue(const Round& /*round*/, JobId id) { queue_.insert(id.value); }
  virtual void dequeue(JobId id) { queue_.erase(id.value); }

  IdSet queue_;

 private:
  std::vector<JobId> newly_filed_;
};

}  // namespace berth
