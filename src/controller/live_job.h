// A job that has not ended, as the controller holds it in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "controller/job_reports.h"
#include "model/view.h"
#include "store/store.h"

namespace berth {

// What becomes of a job when its present attempt has ended because it was asked to.
enum class Fate : std::uint8_t {
  kGoOn,       // it waits again, or starts elsewhere
  kCancelled,  // its user, or an operator, ends it
  kTimeLimit,  // it has run for as long as its user allows
  kStopped,    // the policy, or its own stop option, ends it
};

struct LiveAttempt {
  AttemptRecord record;
  std::vector<TaskPlace> places;       // in the policies' cluster
  Job held;                            // as it was when it began: what its processes take
  std::uint32_t slots_per_worker = 1;  // tasks of the policies' cluster that are one process
  TimeUs since_us = 0;                 // that it runs, or is being started
};

struct LiveJob {
  JobRecord record;  // without its specification
  JobId id;          // invalid: the policy does not see it (held, or waits to be tried again)
  std::uint32_t replicas = 1;
  std::uint32_t tasks_per_replica = 1;
  std::optional<LiveAttempt> attempt;
  Fate fate = Fate::kGoOn;
  std::string fate_words;
  TimeUs not_before_us = 0;  // of the next attempt
  std::optional<TimeUs> time_limit_us;
  std::optional<std::int64_t> stop_at_iteration;  // by the policy
  std::unique_ptr<JobReports> reports;            // null: has never run
};

[[nodiscard]] std::string attempt_key(JobNumber job, std::uint32_t attempt);
struct AttemptName {
  JobNumber job = 0;
  std::uint32_t attempt = 0;
};
[[nodiscard]] std::optional<AttemptName> parse_attempt_key(std::string_view key);

}  // namespace berth
