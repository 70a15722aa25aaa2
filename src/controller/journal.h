// Intent before act, outcome after it: records that have changed go to the store in one batch, and
// only when that is written is the backend told.
//
// While the store cannot be written (a full disk) nothing is begun and nothing is forgotten:
// records and acts are kept and tried again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "store/store.h"

namespace berth {

struct StartAct {
  AttemptLaunch launch;
};
struct StopAct {
  std::string key;
  bool now = false;
};
struct ForgetAct {
  std::string key;
};
using Act = std::variant<StartAct, StopAct, ForgetAct>;

// An attempt that the backend refused to begin.
struct RefusedStart {
  std::string key;
  Error error;
};

class Journal {
 public:
  explicit Journal(Store& store) : store_(store) {}

  void put(const JobRecord& job) { jobs_.insert_or_assign(job.number, job); }
  void put(const AttemptRecord& attempt) {
    attempts_.insert_or_assign(std::pair(attempt.job, attempt.attempt), attempt);
  }
  void after(Act act) { acts_.push_back(std::move(act)); }
  [[nodiscard]] bool empty() const { return jobs_.empty() && attempts_.empty() && acts_.empty(); }

  // Writes, then acts. `clock`: text to keep with the batch. An error: nothing was written or done.
  [[nodiscard]] Status flush(Backend& backend, Durability durability, const std::string& clock,
                             std::vector<RefusedStart>& refused);
  // Of the last flush() that failed; empty once one has succeeded.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // The record of a job that is not written yet; null: the store has the last one.
  [[nodiscard]] const JobRecord* unwritten(JobNumber number) const {
    const auto found = jobs_.find(number);
    return found == jobs_.end() ? nullptr : &found->second;
  }

 private:
  [[nodiscard]] Status write(Durability durability, const std::string& clock);

  Store& store_;
  std::map<JobNumber, JobRecord> jobs_;
  std::map<std::pair<JobNumber, std::uint32_t>, AttemptRecord> attempts_;
  std::vector<Act> acts_;
  std::string trouble_;
};

}  // namespace berth
