// What becomes of a job: it comes before the policy, is taken away from it, ends.
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "controller/controller.h"
#include "jobspec/job_file.h"

namespace berth {
namespace {

// Before the second, third, ... attempt after a failure: twice as long each time.
constexpr TimeUs kFirstDelayUs = kUsPerS;
constexpr TimeUs kMostDelayUs = 5 * kUsPerMin;

TimeUs delay_after(std::uint32_t troubles) {
  TimeUs delay_us = kFirstDelayUs;
  for (std::uint32_t i = 1; i < troubles && delay_us < kMostDelayUs; ++i) delay_us *= 2;
  return std::min(delay_us, kMostDelayUs);
}

std::string_view kind_name(AttemptEndKind kind) {
  switch (kind) {
    case AttemptEndKind::kExited:
      return "exited";
    case AttemptEndKind::kStopped:
      return "stopped";
    case AttemptEndKind::kNotStarted:
      return "not-started";
    case AttemptEndKind::kLost:
      return "lost";
  }
  return "unknown";
}

std::string end_text(const AttemptEnd& end) {
  nlohmann::ordered_json out;
  out["kind"] = kind_name(end.kind);
  if (!end.why.empty()) out["why"] = end.why;
  auto& tasks = out["tasks"] = nlohmann::ordered_json::array();
  for (const TaskEnd& task : end.tasks) {
    nlohmann::ordered_json row;
    row["task"] = task.task;
    if (task.exit_code >= 0) row["exit_code"] = task.exit_code;
    if (task.signal != 0) row["signal"] = task.signal;
    if (task.out_of_memory) row["out_of_memory"] = true;
    if (task.max_rss_bytes >= 0) row["max_rss_bytes"] = task.max_rss_bytes;
    if (task.cpu_us >= 0) row["cpu_s"] = seconds(task.cpu_us);
    tasks.push_back(std::move(row));
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// "SIGKILL (signal 9)".
std::string signal_words(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{} (signal {})", name, signal)
                         : fmt::format("signal {}", signal);
}

// "task 1 exited with code 3", of the first task that did not end well.
std::string failure_words(const AttemptEnd& end) {
  if (!end.why.empty()) return end.why;
  // When one fails the others are told to leave: theirs are not the cause.
  const auto failed = [](const TaskEnd& task) { return task.out_of_memory || task.exit_code > 0; };
  const bool any_failed = std::ranges::any_of(end.tasks, failed);
  for (const TaskEnd& task : end.tasks) {
    if (task.exit_code == 0 || (any_failed && !failed(task))) continue;
    const std::string who = end.tasks.size() > 1 ? fmt::format("task {} ", task.task) : "";
    if (task.out_of_memory) return who + "was killed: out of memory";
    if (task.signal != 0) return who + fmt::format("was killed by {}", signal_words(task.signal));
    return who + fmt::format("exited with code {}", task.exit_code);
  }
  return "failed";
}

}  // namespace

void Controller::admit(LiveJob& job, const JobSpec& spec, std::span<const TaskPlace> running_at) {
  MaybeInt deadline_us;
  if (spec.deadline_unix_us) deadline_us = clock_.from_unix_us(*spec.deadline_unix_us);
  if (spec.deadline_after_us) deadline_us = job.record.submit_us + *spec.deadline_after_us;
  ModelledJob modelled = model_.model(spec, job.record.user, job.record.submit_us, deadline_us);
  modelled.job.stop = job.record.stop;
  if (!modelled.graph.tasks.empty()) {
    modelled.job.graph = state_->add_graph(std::move(modelled.graph));
  }
  job.replicas = modelled.job.replicas;
  job.tasks_per_replica = modelled.job.partitions();
  job.time_limit_us = spec.time_limit_us;
  jobs_.bind(job,
             state_->add_known_job(modelled.job, job.record.state, running_at, clock_.now_us()));
}

void Controller::admit_stored(LiveJob& job) {
  const Result<JobSpec> spec = stored_spec(job.record.number);
  if (!spec) return finish(job, JobStatus::kFailed, spec.error().text());
  admit(job, *spec);
  touch(job);
}

// The policy sees it no more; what it has run so far is kept.
void Controller::withdraw(LiveJob& job) {
  blocked_.erase(job.record.number);
  if (!job.id.valid()) return;
  job.record.stop = state_->job(job.id).stop;
  job.record.state = state_->state(job.id);
  JobState& kept = job.record.state;
  if (kept.status == JobStatus::kRunning) {
    kept.attained_us = kept.attained_by(clock_.now_us());
    kept.last_stop_us = clock_.now_us();
    kept.status = JobStatus::kPending;
    kept.tasks_placed = 0;
  }
  // Failed: predictors learn nothing from it.
  (void)state_->end_job(job.id, JobStatus::kFailed, clock_.now_us());
  jobs_.unbind(job);
}

void Controller::finish(LiveJob& job, JobStatus status, std::string words) {
  const TimeUs now_us = clock_.now_us();
  const JobId id = job.id;
  if (id.valid()) {
    (void)state_->end_job(id, status, now_us);
    ended_ids_.push_back(id);
    touch(job);
  }
  job.record.state.status = status;
  job.record.state.last_stop_us = now_us;
  job.record.end_unix_us = clock_.unix_us();
  job.record.message = std::move(words);
  if (job.reports) job.record.iterations = job.reports->iterations().value_or(-1);
  journal_.put(job.record);
  const std::string_view kind = status == JobStatus::kFinished  ? "finished"
                                : status == JobStatus::kStopped ? "stopped"
                                                                : "failed";
  note(kind, job, job.record.message);
  blocked_.erase(job.record.number);
  placed_.erase(job.record.number);
  jobs_.erase(job.record.number);
}

void Controller::try_again(LiveJob& job, TimeUs delay_us, std::string words) {
  const bool ran = job.id.valid() && state_->state(job.id).status == JobStatus::kRunning;
  withdraw(job);
  if (ran) ++job.record.state.evictions;
  job.record.message = std::move(words);
  job.not_before_us = clock_.now_us() + delay_us;
  if (delay_us > 0) {
    delayed_.emplace(job.not_before_us, job.record.number);
    touch(job);
  } else {
    admit_stored(job);
  }
}

void Controller::end_by(LiveJob& job, Fate fate, std::string words, bool now) {
  // Who is told to hurry is told so again.
  if (job.fate != Fate::kGoOn && !now) return;
  if (job.fate == Fate::kGoOn) {
    job.fate = fate;
    job.fate_words = std::move(words);
  }
  if (!job.attempt) {
    return finish(job, fate == Fate::kTimeLimit ? JobStatus::kFailed : JobStatus::kStopped,
                  job.fate_words);
  }
  withdraw(job);
  touch(job);
  begin_stop(job, job.fate_words, now);
}

void Controller::on_started(const std::string& key, const ProcessId& supervisor) {
  const auto name = parse_attempt_key(key);
  LiveJob* job = name ? jobs_.find(name->job) : nullptr;
  if (job == nullptr || !job->attempt || job->attempt->record.attempt != name->attempt) return;
  AttemptRecord& record = job->attempt->record;
  if (record.phase == AttemptPhase::kIntended) record.phase = AttemptPhase::kRunning;
  record.pid = supervisor.pid;
  record.start_ticks = supervisor.start_ticks;
  record.boot_id = supervisor.boot_id;
  if (record.start_unix_us < 0) {
    record.start_unix_us = clock_.unix_us();
    job->attempt->since_us = clock_.now_us();
    note("started", *job, {});
  }
  journal_.put(record);
  if (job->time_limit_us && job->id.valid()) {
    const JobState& state = state_->state(job->id);
    const TimeUs ran_us = state.attained_by(clock_.now_us());
    time_limits_.emplace(clock_.now_us() + std::max<TimeUs>(0, *job->time_limit_us - ran_us),
                         job->record.number);
  }
}

void Controller::on_ended(const std::string& key, const AttemptEnd& end) {
  journal_.after(ForgetAct{key});
  const auto name = parse_attempt_key(key);
  LiveJob* job = name ? jobs_.find(name->job) : nullptr;
  if (job == nullptr || !job->attempt || job->attempt->record.attempt != name->attempt) return;
  AttemptRecord& record = job->attempt->record;
  const bool asked = record.phase == AttemptPhase::kStopping;
  record.phase = AttemptPhase::kEnded;
  record.end_unix_us = end.ended_unix_us >= 0 ? end.ended_unix_us : clock_.unix_us();
  if (end.started_unix_us >= 0) record.start_unix_us = end.started_unix_us;
  record.end_json = end_text(end);
  journal_.put(record);
  occupancy_.give(job->attempt->held, job->attempt->places);
  placed_.erase(job->record.number);
  std::erase_if(time_limits_, [&](const auto& limit) { return limit.second == name->job; });
  if (job->reports) {
    job->reports->read_to_end(clock_.now_us());
    job->reports->set_replicas(0);
  }
  note("attempt-ended", *job, end.success() ? "" : failure_words(end));
  job->attempt.reset();
  settle_end(*job, end, asked);
  heed_devices();
  retry_blocked();
}

// The attempt has ended; the job may not have.
void Controller::settle_end(LiveJob& job, const AttemptEnd& end, bool asked) {
  if (end.success() && end.kind == AttemptEndKind::kExited) {
    return finish(job, JobStatus::kFinished, {});
  }
  switch (job.fate) {
    case Fate::kCancelled:
    case Fate::kStopped:
      return finish(job, JobStatus::kStopped, job.fate_words);
    case Fate::kTimeLimit:
      return finish(job, JobStatus::kFailed, job.fate_words);
    case Fate::kGoOn:
      break;
  }
  if (asked || end.kind == AttemptEndKind::kStopped) {
    // Held, or to start again where the policy wants it, which may have found it a place already.
    if (job.record.hold != HoldState::kNone) return touch(job);
    if (!job.id.valid()) return admit_stored(job);
    touch(job);
    return reconcile(job);
  }
  if (end.kind == AttemptEndKind::kExited) return fail_or_retry(job, failure_words(end));
  if (end.own_fault) return finish(job, JobStatus::kFailed, failure_words(end));
  ++job.record.losses;
  if (job.record.losses > options_.most_losses) {
    return finish(
        job, JobStatus::kFailed,
        fmt::format("lost {} times, the last time: {}", job.record.losses, failure_words(end)));
  }
  // What never began is begun again at once, at first.
  const bool never_began = end.kind == AttemptEndKind::kNotStarted;
  try_again(job, never_began && job.record.losses <= 2 ? 0 : delay_after(job.record.losses),
            failure_words(end));
}

void Controller::fail_or_retry(LiveJob& job, std::string words) {
  ++job.record.failures;
  const Result<JobSpec> spec = stored_spec(job.record.number);
  if (!spec || job.record.failures > spec->restarts) {
    return finish(job, JobStatus::kFailed, std::move(words));
  }
  try_again(job, delay_after(job.record.failures), std::move(words));
}

}  // namespace berth
