#include "controller/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "jobspec/job_file.h"

namespace berth {
namespace {

// Reports are read so often, and for so long at a time.
constexpr TimeUs kMostReportsUs = 20'000;
constexpr TimeUs kReportsEveryUs = kUsPerS / 2;
// What is acknowledged survives a loss of power after at most so long.
constexpr TimeUs kPowerEveryUs = kUsPerS / 10;
constexpr TimeUs kRetryFlushUs = kUsPerS;
constexpr TimeUs kLookAtStoreUs = kUsPerS;
// Rounds take at most about a third of the time.
constexpr TimeUs kLeastGapUs = 2'000;
constexpr TimeUs kMostGapUs = kUsPerS / 5;
// After a plan that could not be applied.
constexpr TimeUs kAfterRefusalUs = kUsPerS;
// Ended jobs beyond the history that the state carries before it is made anew.
constexpr std::size_t kDeadWeight = 1'024;

Error wrong_state(std::string message) {
  return usage_error(std::move(message));
}

// Of two jobs as JSON: the keys that only one has, or that say something else.
std::string different_keys(std::string_view a, std::string_view b) {
  const auto one = nlohmann::json::parse(a, nullptr, false);
  const auto other = nlohmann::json::parse(b, nullptr, false);
  std::set<std::string> keys;
  const auto add = [&keys](const nlohmann::json& from, const nlohmann::json& in) {
    if (!from.is_object() || !in.is_object()) return;
    for (const auto& [key, value] : from.items()) {
      if (!in.contains(key) || in[key] != value) keys.insert(key);
    }
  };
  add(one, other);
  add(other, one);
  return fmt::format("{}", fmt::join(keys, ", "));
}

Error no_such_job(JobNumber number) {
  return wrong_state(fmt::format("no job {}", number));
}

}  // namespace

Controller::Controller(const ControllerOptions& options, std::unique_ptr<Policy> policy,
                       Slots slots, const std::optional<ClockMark>& mark, Store& store,
                       Backend& backend)
    : options_(options),
      store_(store),
      backend_(backend),
      clock_(options.time, mark),
      slots_(std::move(slots)),
      model_(slots_, options.default_cpu_milli),
      occupancy_(slots_, backend.cluster()),
      state_(std::make_unique<ClusterState>(slots_.cluster(), std::vector<Job>{})),
      decider_(std::move(policy), options.seed),
      journal_(store) {}

Result<std::unique_ptr<Controller>> Controller::open(const ControllerOptions& options, Store& store,
                                                     Backend& backend) {
  BERTH_TRY(const PolicyInfo* info, find_policy(options.policy));
  if (info->holds_parts) {
    return fail(usage_error(fmt::format("{} places parts of replicas, which cannot run; it is for "
                                        "simulations alone",
                                        info->name),
                            "--policy"));
  }
  BERTH_TRY(std::unique_ptr<Policy> policy, info->make(options.policy_options));
  BERTH_TRY(Slots slots, Slots::make(backend.cluster(), options.slots));
  BERTH_TRY(const std::optional<std::string> clock, store.fact("clock"));
  const std::optional<ClockMark> mark = clock ? parse_mark(*clock) : std::nullopt;
  std::unique_ptr<Controller> out(
      new Controller(options, std::move(policy), std::move(slots), mark, store, backend));
  BERTH_CHECK_OK(out->recover());
  return out;
}

void Controller::note(std::string_view kind, const LiveJob& job, std::string detail) {
  events_.add(kind, clock_.unix_us(), job.record.number,
              job.attempt ? job.attempt->record.attempt : 0, std::move(detail));
}

// What is stored of it is out of date.
void Controller::touch(LiveJob& job) {
  if (job.id.valid()) {
    job.record.state = state_->state(job.id);
    job.record.stop = state_->job(job.id).stop;
  }
  if (job.reports) job.record.iterations = job.reports->iterations().value_or(-1);
  journal_.put(job.record);
}

// --- what users ask for
// ----------------------------------------------------------------------------

// Whether the job of a token is this one.
Status Controller::same_job(const JobRecord& submitted) const {
  if (submitted.token.empty()) return {};
  BERTH_TRY(const std::optional<JobRecord> stored, store_.job(submitted.number));
  if (!stored || stored->spec_json == submitted.spec_json) return {};
  return fail(wrong_state(
      fmt::format("the token was used for job {}, which is another one (different: {}); a new job "
                  "needs a token of its own",
                  submitted.number, different_keys(stored->spec_json, submitted.spec_json))));
}

Result<std::vector<JobNumber>> Controller::submit(std::span<const Submission> submissions) {
  for (const Submission& submission : submissions) {
    BERTH_CHECK_OK(check_job(submission.spec));
    BERTH_CHECK_OK(model_.check(submission.spec));
    if (submission.spec.deadline_unix_us.value_or(kNever) < clock_.unix_us()) {
      return fail(bad_input({}, 0, "deadline", "is in the past"));
    }
  }
  const TimeUs now_us = clock_.now_us();
  const auto write = [&]() -> Result<std::vector<JobRecord>> {
    std::vector<JobRecord> out;
    for (const Submission& submission : submissions) {
      JobRecord record{.uid = submission.user.uid,
                       .gid = submission.user.gid,
                       .user = submission.user_name,
                       .name = submission.spec.name,
                       .spec_json = job_json(submission.spec),
                       .token = submission.token,
                       .hold = submission.held ? HoldState::kByUser : HoldState::kNone,
                       .submit_unix_us = clock_.unix_us(),
                       .submit_us = now_us,
                       .stop = submission.spec.stop};
      BERTH_TRY(record.number, store_.add_job(record));
      BERTH_CHECK_OK(same_job(record));
      out.push_back(std::move(record));
    }
    BERTH_CHECK_OK(store_.commit(Durability::kProcess));
    return out;
  };
  Result<std::vector<JobRecord>> written = write();
  if (!written) {
    store_.roll_back();
    return fail(std::move(written).error());
  }
  unsafe_ = true;
  std::vector<JobNumber> numbers;
  for (std::size_t i = 0; i < written->size(); ++i) {
    JobRecord& record = (*written)[i];
    numbers.push_back(record.number);
    // A token that was used before: that job, which may have ended.
    if (jobs_.find(record.number) != nullptr) continue;
    if (!record.token.empty()) {
      BERTH_TRY(const std::optional<JobRecord> stored, store_.job(record.number));
      if (!stored || stored->submit_us != record.submit_us || stored->state.ended()) continue;
    }
    record.spec_json.clear();
    LiveJob& job = jobs_.add(std::move(record));
    note("submitted", job, job.record.name);
    if (job.record.hold == HoldState::kNone) admit(job, submissions[i].spec);
  }
  return numbers;
}

Result<LiveJob*> Controller::active_job(JobNumber number) {
  if (LiveJob* job = jobs_.find(number); job != nullptr) return job;
  BERTH_TRY(const std::optional<JobRecord> stored, record(number));
  return fail(stored ? wrong_state(fmt::format("job {} has ended", number)) : no_such_job(number));
}

Status Controller::cancel(JobNumber number, bool now) {
  BERTH_TRY(LiveJob * job, active_job(number));
  job->record.cancelled = true;
  end_by(*job, Fate::kCancelled, "cancelled", now);
  return {};
}

Status Controller::hold(JobNumber number, HoldState by) {
  BERTH_TRY(LiveJob * job, active_job(number));
  if (job->fate != Fate::kGoOn) {
    return fail(wrong_state(fmt::format("job {} is ending", number)));
  }
  // What an operator holds its user cannot make his own.
  if (job->record.hold != HoldState::kByOperator) job->record.hold = by;
  withdraw(*job);
  touch(*job);
  reconcile(*job);
  note("held", *job, {});
  return {};
}

Status Controller::release(JobNumber number) {
  BERTH_TRY(LiveJob * job, active_job(number));
  if (job->record.hold == HoldState::kNone) {
    return fail(wrong_state(fmt::format("job {} is not held", number)));
  }
  job->record.hold = HoldState::kNone;
  touch(*job);
  note("released", *job, {});
  // An attempt that is on its way out lets it in when it has ended.
  if (!job->attempt && !job->id.valid()) admit_stored(*job);
  return {};
}

Status Controller::requeue(JobNumber number) {
  if (LiveJob* job = jobs_.find(number); job != nullptr) {
    if (job->fate != Fate::kGoOn) {
      return fail(wrong_state(fmt::format("job {} is ending", number)));
    }
    if (job->record.hold != HoldState::kNone) {
      return fail(wrong_state(fmt::format("job {} is held: release it", number)));
    }
    if (!job->attempt) return fail(wrong_state(fmt::format("job {} waits already", number)));
    withdraw(*job);
    begin_stop(*job, "requeued", false);
    return {};
  }
  BERTH_TRY(std::optional<JobRecord> stored, record(number));
  if (!stored) return fail(no_such_job(number));
  stored->state.status = JobStatus::kPending;
  stored->cancelled = false;
  if (stored->hold == HoldState::kByUser) stored->hold = HoldState::kNone;
  stored->state.attained_us = 0;  // its time limit counts anew
  stored->failures = stored->losses = 0;
  stored->message.clear();
  stored->end_unix_us = -1;
  stored->spec_json.clear();
  LiveJob& job = jobs_.add(std::move(*stored));
  touch(job);
  note("requeued", job, {});
  if (job.record.hold == HoldState::kNone) admit_stored(job);
  return {};
}

JobRecord Controller::record_of(const LiveJob& job) const {
  JobRecord out = job.record;
  if (job.id.valid()) out.state = state_->state(job.id);
  return out;
}

Result<std::optional<JobRecord>> Controller::record(JobNumber number) const {
  BERTH_TRY(std::optional<JobRecord> stored, store_.job(number));
  if (!stored) return stored;
  std::string spec = std::move(stored->spec_json);
  std::string token = std::move(stored->token);
  if (const LiveJob* job = jobs_.find(number); job != nullptr) {
    stored = record_of(*job);
  } else if (const JobRecord* last = journal_.unwritten(number); last != nullptr) {
    stored = *last;
  }
  stored->spec_json = std::move(spec);
  stored->token = std::move(token);
  return stored;
}

// --- the loop
// --------------------------------------------------------------------------------------

void Controller::poll() {
  const TimeUs now_us = clock_.now_us();
  backend_.poll(
      {.started = [&](const std::string& key,
                      const ProcessId& supervisor) { on_started(key, supervisor); },
       .ended = [&](const std::string& key, const AttemptEnd& end) { on_ended(key, end); },
       .devices_changed = [&] { heed_devices(); }});
  heed_timers(now_us);
  heed_reports(now_us);
  decide_if_due(now_us);
  look_at_store(now_us);
  flush();
  if (state_->arrived() > kDeadWeight + 4 * (jobs_.size() + options_.history_jobs)) renew_state();
}

void Controller::decide_if_due(TimeUs now_us) {
  const bool changed = state_->version() != decided_at_;
  if (!changed && now_us < policy_wake_us_) return;
  if (now_us < next_round_us_) return;
  const Decision decision = decider_.decide(*state_, telemetry_, now_us);
  next_round_us_ =
      now_us + std::clamp(2 * decider_.counts().last_round_us, kLeastGapUs, kMostGapUs);
  decided_at_ = state_->version();
  policy_wake_us_ = decision.wake_us;
  for (const JobId id : decision.touched) {
    LiveJob* job = jobs_.find(id);
    if (job == nullptr) continue;
    touch(*job);
    reconcile(*job);
  }
  heed_stops(decision);
  if (decision.refused) {
    next_round_us_ = now_us + kAfterRefusalUs;
    policy_wake_us_ = std::min(policy_wake_us_, next_round_us_);
    events_.add("plan-refused", clock_.unix_us(), 0, 0, decider_.counts().last_refusal);
  }
}

void Controller::heed_stops(const Decision& decision) {
  for (const StopRequest& stop : decision.stops) {
    LiveJob* job = jobs_.find(stop.job);
    if (job == nullptr) continue;
    job->stop_at_iteration = stop.iteration;
    heed_report(*job);
  }
}

void Controller::heed_timers(TimeUs now_us) {
  while (!delayed_.empty() && delayed_.begin()->first <= now_us) {
    const JobNumber number = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    LiveJob* job = jobs_.find(number);
    if (job != nullptr && !job->id.valid() && !job->attempt &&
        job->record.hold == HoldState::kNone) {
      admit_stored(*job);
    }
  }
  while (!resizes_.empty() && resizes_.begin()->first <= now_us) {
    const JobNumber number = resizes_.begin()->second;
    resizes_.erase(resizes_.begin());
    if (LiveJob* job = jobs_.find(number); job != nullptr && job->attempt) reconcile(*job);
  }
  while (!time_limits_.empty() && time_limits_.begin()->first <= now_us) {
    const JobNumber number = time_limits_.begin()->second;
    time_limits_.erase(time_limits_.begin());
    LiveJob* job = jobs_.find(number);
    if (job != nullptr && job->attempt) {
      end_by(*job, Fate::kTimeLimit, "ran for as long as its time limit allows");
    }
  }
}

void Controller::heed_reports(TimeUs now_us) {
  if (now_us < next_reports_us_) return;
  next_reports_us_ = now_us + kReportsEveryUs;
  // One after the other, and no longer than that: those that are left are first the next time.
  auto next = placed_.upper_bound(reports_read_to_);
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    if (next == placed_.end()) next = placed_.begin();
    reports_read_to_ = *next++;
    LiveJob* job = jobs_.find(reports_read_to_);
    if (job != nullptr && job->reports && job->reports->poll(now_us)) heed_report(*job);
    if (clock_.now_us() - now_us > kMostReportsUs) break;
  }
}

// Its stop option, or the policy, may end it here.
void Controller::heed_report(LiveJob& job) {
  if (job.fate != Fate::kGoOn) return;
  const std::int64_t done = job.reports ? job.reports->iterations().value_or(0) : 0;
  if (job.stop_at_iteration && done >= *job.stop_at_iteration) {
    return end_by(job, Fate::kStopped,
                  fmt::format("stopped by {} after {} iterations", options_.policy, done));
  }
  if (!job.id.valid() || !job.reports) return;
  const Job& declared = state_->job(job.id);
  if (declared.stop != StopOption::kAccuracy || declared.required_accuracy_ppm < 0) return;
  const auto accuracy = job.reports->curve().accuracy_at(done);
  if (accuracy && *accuracy * 1e6 >= declared.required_accuracy_ppm) {
    end_by(
        job, Fate::kStopped,
        fmt::format("reached its required accuracy ({:.4g}) after {} iterations", *accuracy, done));
  }
}

// A device that others use, or that fails, takes no new task. What runs on it is not disturbed.
void Controller::heed_devices() {
  const std::vector<bool> usable = backend_.usable_devices();
  const std::span<const DeviceState> devices = state_->view(0).devices;
  for (std::uint32_t d = 0; d < slots_.cluster().devices.size(); ++d) {
    const DeviceId physical = slots_.slot(DeviceId{d}).device;
    if (!physical.valid() || physical.index() >= usable.size()) continue;
    const bool up = usable[physical.index()];
    if (up || (occupancy_.is_free(DeviceId{d}) && devices[d].tasks == 0)) {
      state_->set_device_up(DeviceId{d}, up);
    }
  }
}

void Controller::retry_blocked() {
  for (const JobNumber number : std::exchange(blocked_, {})) {
    if (LiveJob* job = jobs_.find(number); job != nullptr) reconcile(*job);
  }
}

// So that it is said even where nothing happens that would be written.
void Controller::look_at_store(TimeUs now_us) {
  if (now_us < next_look_us_) return;
  next_look_us_ = now_us + kLookAtStoreUs;
  const Status there = store_.still_there();
  lost_store_ = there ? "" : there.error().text();
}

void Controller::flush() {
  const TimeUs now_us = clock_.now_us();
  const bool for_power = unsafe_ && now_us - last_power_us_ >= kPowerEveryUs;
  const bool troubled = !journal_.trouble().empty();
  if (journal_.empty() && !for_power && !troubled) return;
  if (troubled && now_us < next_flush_us_) return;
  std::vector<RefusedStart> refused;
  const Status status =
      journal_.flush(backend_, for_power ? Durability::kPower : Durability::kProcess,
                     mark_text(clock_.mark()), refused);
  if (!status) {
    next_flush_us_ = now_us + kRetryFlushUs;
    return;
  }
  unsafe_ = !for_power;
  if (for_power) last_power_us_ = now_us;
  for (const RefusedStart& start : refused) {
    on_ended(start.key, {.kind = AttemptEndKind::kNotStarted,
                         .own_fault = start.error.kind != ErrorKind::kIo,
                         .why = start.error.text()});
  }
}

Status Controller::settle() {
  std::vector<RefusedStart> refused;
  return journal_.flush(backend_, Durability::kPower, mark_text(clock_.mark()), refused);
}

TimeUs Controller::idle_us(TimeUs most_us) const {
  const TimeUs now_us = clock_.now_us();
  const TimeUs round_us = state_->version() != decided_at_ ? now_us : policy_wake_us_;
  TimeUs next = std::min(now_us + most_us, std::max(round_us, next_round_us_));
  if (!delayed_.empty()) next = std::min(next, delayed_.begin()->first);
  if (!time_limits_.empty()) next = std::min(next, time_limits_.begin()->first);
  if (!resizes_.empty()) next = std::min(next, resizes_.begin()->first);
  if (!placed_.empty()) next = std::min(next, next_reports_us_);
  if (!journal_.empty())
    next = std::min(next, journal_.trouble().empty() ? now_us : next_flush_us_);
  if (unsafe_) next = std::min(next, last_power_us_ + kPowerEveryUs);
  return std::max<TimeUs>(0, next - now_us);
}

}  // namespace berth
