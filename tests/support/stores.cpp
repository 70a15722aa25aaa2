#include "support/stores.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::testing {
namespace {

std::string random_text(Rng& rng) {
  std::string text(rng.below(30), '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

std::int64_t random_number(Rng& rng) {
  constexpr std::int64_t kNumbers[] = {-1, 0, 1, kNever};
  const auto pick = rng.below(8);
  return pick < 4 ? kNumbers[pick] : rng.uniform_int(-5, 5'000'000'000);
}

std::uint32_t random_count(Rng& rng) {
  return static_cast<std::uint32_t>(rng.chance(0.1) ? 0xFFFFFFFFU : rng.below(1000));
}

}  // namespace

JobRecord random_job(Rng& rng) {
  JobRecord job;
  job.uid = rng.chance(0.1) ? 0xFFFFFFFFU : static_cast<std::uint32_t>(rng.below(3));
  job.gid = random_count(rng);
  job.user = random_text(rng);
  job.name = random_text(rng);
  job.spec_json = random_text(rng);
  if (rng.chance(0.5)) job.token = fmt::format("t{}", rng.below(20));
  job.hold = static_cast<HoldState>(rng.below(3));
  job.cancelled = rng.chance(0.5);
  job.message = random_text(rng);
  job.submit_unix_us = random_number(rng);
  job.end_unix_us = random_number(rng);
  job.submit_us = random_number(rng);
  job.state.status = static_cast<JobStatus>(rng.below(5));
  job.state.preemptions = random_count(rng);
  job.state.evictions = random_count(rng);
  job.state.tasks_placed = random_count(rng);
  job.state.first_start_us = random_number(rng);
  job.state.last_start_us = random_number(rng);
  job.state.last_stop_us = random_number(rng);
  job.state.last_move_us = random_number(rng);
  job.state.attained_us = random_number(rng);
  job.stop = static_cast<StopOption>(rng.below(3));
  job.attempts = random_count(rng);
  job.failures = random_count(rng);
  job.losses = random_count(rng);
  job.iterations = random_number(rng);
  return job;
}

AttemptRecord random_attempt(Rng& rng, JobNumber job, std::uint32_t attempt) {
  AttemptRecord record;
  record.job = job;
  record.attempt = attempt;
  record.phase = static_cast<AttemptPhase>(rng.below(4));
  record.places_json = random_text(rng);
  record.stop_reason = random_text(rng);
  record.pid = static_cast<std::int32_t>(rng.below(1U << 22U));
  record.start_ticks = rng.next_u64();
  record.boot_id = random_text(rng);
  record.intent_unix_us = random_number(rng);
  record.start_unix_us = random_number(rng);
  record.end_unix_us = random_number(rng);
  record.end_json = random_text(rng);
  return record;
}

std::string as_text(const JobRecord& j) {
  const JobState& s = j.state;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", j.number, j.uid, j.gid, j.user,
                     j.name, j.spec_json, j.token, static_cast<int>(j.hold), j.cancelled, j.message,
                     j.submit_unix_us, j.end_unix_us, j.submit_us) +
         fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(s.status),
                     s.preemptions, s.evictions, s.tasks_placed, s.first_start_us, s.last_start_us,
                     s.last_stop_us, s.last_move_us, s.attained_us, static_cast<int>(j.stop),
                     j.attempts, j.failures, j.losses, j.iterations);
}

std::string as_text(const AttemptRecord& a) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", a.job, a.attempt,
                     static_cast<int>(a.phase), a.places_json, a.stop_reason, a.pid, a.start_ticks,
                     a.boot_id, a.intent_unix_us, a.start_unix_us, a.end_unix_us, a.end_json);
}

int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return status;
}

}  // namespace berth::testing
