// What must survive a crash: jobs, their attempts, and what was intended with them. SQLite in WAL
// mode, one writer.
//
// Writes go into the open batch and are on their way with commit(); a batch is there whole or not
// at all. A batch that is committed survives the death of the process; with Durability::kPower also
// that of the machine. Reads see the open batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job.h"

namespace berth {

using JobNumber = std::int64_t;  // 1, 2, ...: never used again, whatever is deleted

enum class HoldState : std::uint8_t { kNone, kByUser, kByOperator };

// A job as it stands. Instants are of the scheduler's clock (`_us`) or of the wall clock
// (`_unix_us`); kNever and -1: has not happened.
struct JobRecord {
  JobNumber number = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;  // name at the time of submission
  std::string name;
  std::string spec_json;  // jobspec/job_file.h
  std::string token;      // chosen by who submits: the same uid and token is the same job. "" none
  HoldState hold = HoldState::kNone;
  bool cancelled = false;  // asked for; its status tells when it is done
  std::string message;     // of its end or of the last one of its runs, one line for people
  std::int64_t submit_unix_us = -1;
  std::int64_t end_unix_us = -1;
  TimeUs submit_us = 0;
  // As the policy knows it (model/job.h): status, attained time, preemptions, first start ...
  JobState state;
  StopOption stop = StopOption::kIterations;
  std::uint32_t attempts = 0;    // started ever
  std::uint32_t failures = 0;    // ended by themselves without success
  std::uint32_t losses = 0;      // that nobody asked for: machine or supervisor died
  std::int64_t iterations = -1;  // last reported; -1: none
};

enum class AttemptPhase : std::uint8_t {
  kIntended,  // written before the backend is told; it may or may not run
  kRunning,   // its supervisor is known
  kStopping,  // written before the backend is told to stop it
  kEnded,     // its end is known and settled with the job
};

struct AttemptRecord {
  JobNumber job = 0;
  std::uint32_t attempt = 0;  // 1, 2, ... of its job
  AttemptPhase phase = AttemptPhase::kIntended;
  std::string places_json;  // which task where, by names of servers and devices
  std::string stop_reason;  // of kStopping: "preempted", "cancelled", "moved", ...
  std::int32_t pid = 0;     // of its supervisor; 0: not known
  std::uint64_t start_ticks = 0;
  std::string boot_id;
  std::int64_t intent_unix_us = -1;
  std::int64_t start_unix_us = -1;
  std::int64_t end_unix_us = -1;
  std::string end_json;  // what came of it
};

struct JobFilter {
  std::optional<std::uint32_t> uid;
  std::optional<JobStatus> status;
  bool active_only = false;  // pending or running
  JobNumber before = 0;      // older ones than this; 0: from the newest
  std::size_t limit = 100;
};

enum class Durability : std::uint8_t { kProcess, kPower };

class Store {
 public:
  static constexpr int kSchemaVersion = 1;

  // Creates it (mode 0600) or migrates an older one, after a copy beside it (PATH.v0). Refused: a
  // newer schema, a damaged file, one that another process has open (PATH.lock; names its pid).
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path);

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  [[nodiscard]] virtual Status commit(Durability durability) = 0;
  // Whether its path still names the file that was opened; commit() looks itself. An error: it was
  // moved, removed or replaced, and what would be written now nobody would find again.
  [[nodiscard]] virtual Status still_there() const = 0;
  // Forgets the open batch: after an error of commit() or of a write. Until then every further
  // write and commit() fails, so that no part of a batch is ever committed.
  virtual void roll_back() = 0;

  // Numbers the job. With a token that this uid used before: the number of that job, and nothing is
  // added.
  [[nodiscard]] virtual Result<JobNumber> add_job(const JobRecord& job) = 0;
  // All but number, uid, spec, token and submission.
  [[nodiscard]] virtual Status update_job(const JobRecord& job) = 0;
  [[nodiscard]] virtual Status put_attempt(const AttemptRecord& attempt) = 0;  // adds or replaces

  [[nodiscard]] virtual Result<std::optional<JobRecord>> job(JobNumber number) const = 0;
  // Newest first.
  [[nodiscard]] virtual Result<std::vector<JobRecord>> jobs(const JobFilter& filter) const = 0;
  // Pending and running ones, oldest first, one by one: there may be 100,000. `visit` may read, but
  // not write, nor ask for the active ones again.
  [[nodiscard]] virtual Status each_active(
      const std::function<void(const JobRecord&)>& visit) const = 0;
  [[nodiscard]] virtual Result<std::vector<AttemptRecord>> attempts(JobNumber job) const = 0;
  [[nodiscard]] virtual Result<std::vector<AttemptRecord>> open_attempts() const = 0;  // not ended
  // The last ended jobs by end_unix_us, oldest first: what the predictors learn from.
  [[nodiscard]] virtual Result<std::vector<JobRecord>> recently_ended(std::size_t limit) const = 0;
  // How many jobs have each status, in the order of JobStatus.
  [[nodiscard]] virtual Result<std::vector<std::int64_t>> count_by_status() const = 0;

  // Small facts by name: the clock's origin, the identity of the data folder.
  [[nodiscard]] virtual Result<std::optional<std::string>> fact(std::string_view name) const = 0;
  [[nodiscard]] virtual Status set_fact(std::string_view name, std::string_view value) = 0;

  // Removes ended jobs with their attempts but for the `keep` that ended last, and but for those
  // with an attempt that is not settled; returns how many.
  [[nodiscard]] virtual Result<std::int64_t> prune(std::int64_t keep) = 0;
};

// A consistent copy of a store, which may be open and written meanwhile. `to` must not exist; it is
// there whole or not at all.
[[nodiscard]] Status backup_store(const std::string& from, const std::string& to);

}  // namespace berth
