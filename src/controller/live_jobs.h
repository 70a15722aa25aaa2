// The jobs that have not ended, by number and by the policies' id.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "controller/live_job.h"

namespace berth {

class LiveJobs {
 public:
  LiveJob& add(JobRecord record);
  void erase(JobNumber number);
  [[nodiscard]] LiveJob* find(JobNumber number);
  [[nodiscard]] const LiveJob* find(JobNumber number) const;
  // Null: it has ended.
  [[nodiscard]] LiveJob* find(JobId id);
  [[nodiscard]] const LiveJob* find(JobId id) const;
  // From now on the policy knows it by this id.
  void bind(LiveJob& job, JobId id);
  // The policy sees it no more.
  void unbind(LiveJob& job);
  // All ids are to be given anew.
  void unbind_all();

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  // By number: the order of submission.
  [[nodiscard]] auto begin() { return jobs_.begin(); }
  [[nodiscard]] auto end() { return jobs_.end(); }
  [[nodiscard]] auto begin() const { return jobs_.begin(); }
  [[nodiscard]] auto end() const { return jobs_.end(); }

 private:
  std::map<JobNumber, LiveJob> jobs_;
  std::vector<LiveJob*> by_id_;  // by JobId
};

}  // namespace berth
