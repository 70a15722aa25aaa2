#include "store/records.h"

namespace berth::sql {

void bind_fixed(Use& use, const JobRecord& job) {
  use.bind(job.uid).bind(job.token).bind(job.submit_unix_us).bind(job.submit_us);
}

void bind_changing(Use& use, const JobRecord& job) {
  use.bind(job.gid).bind(job.user).bind(job.name).bind(job.hold).bind(job.cancelled);
  use.bind(job.message).bind(job.end_unix_us).bind(job.stop);
  use.bind(job.attempts).bind(job.failures).bind(job.losses).bind(job.iterations);
  const JobState& state = job.state;
  use.bind(state.status).bind(state.preemptions).bind(state.evictions).bind(state.tasks_placed);
  use.bind(state.first_start_us).bind(state.last_start_us).bind(state.last_stop_us);
  use.bind(state.last_move_us).bind(state.attained_us);
}

JobRecord read_job(Use& use) {
  JobRecord job;
  job.number = use.integer<JobNumber>();
  job.uid = use.integer<std::uint32_t>();
  job.token = use.text();
  job.submit_unix_us = use.integer<std::int64_t>();
  job.submit_us = use.integer<TimeUs>();
  job.gid = use.integer<std::uint32_t>();
  job.user = use.text();
  job.name = use.text();
  job.hold = use.one_of(HoldState::kByOperator);
  job.cancelled = use.integer<std::int64_t>() != 0;
  job.message = use.text();
  job.end_unix_us = use.integer<std::int64_t>();
  job.stop = use.one_of(StopOption::kAccuracy);
  job.attempts = use.integer<std::uint32_t>();
  job.failures = use.integer<std::uint32_t>();
  job.losses = use.integer<std::uint32_t>();
  job.iterations = use.integer<std::int64_t>();
  JobState& state = job.state;
  state.status = use.one_of(JobStatus::kFailed);
  state.preemptions = use.integer<std::uint32_t>();
  state.evictions = use.integer<std::uint32_t>();
  state.tasks_placed = use.integer<std::uint32_t>();
  state.first_start_us = use.integer<TimeUs>();
  state.last_start_us = use.integer<TimeUs>();
  state.last_stop_us = use.integer<TimeUs>();
  state.last_move_us = use.integer<TimeUs>();
  state.attained_us = use.integer<TimeUs>();
  job.spec_json = use.text();
  return job;
}

void bind_attempt(Use& use, const AttemptRecord& attempt) {
  use.bind(attempt.job).bind(attempt.attempt).bind(attempt.phase);
  use.bind(attempt.places_json).bind(attempt.stop_reason).bind(attempt.pid);
  use.bind(attempt.start_ticks).bind(attempt.boot_id).bind(attempt.intent_unix_us);
  use.bind(attempt.start_unix_us).bind(attempt.end_unix_us).bind(attempt.end_json);
}

AttemptRecord read_attempt(Use& use) {
  AttemptRecord attempt;
  attempt.job = use.integer<JobNumber>();
  attempt.attempt = use.integer<std::uint32_t>();
  attempt.phase = use.one_of(AttemptPhase::kEnded);
  attempt.places_json = use.text();
  attempt.stop_reason = use.text();
  attempt.pid = use.integer<std::int32_t>();
  attempt.start_ticks = use.integer<std::uint64_t>();
  attempt.boot_id = use.text();
  attempt.intent_unix_us = use.integer<std::int64_t>();
  attempt.start_unix_us = use.integer<std::int64_t>();
  attempt.end_unix_us = use.integer<std::int64_t>();
  attempt.end_json = use.text();
  return attempt;
}

}  // namespace berth::sql
