// The scheduler of real jobs: asks a policy, tells a backend, and writes down what it intends
// before and what came of it after. One thread; every call is short.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "controller/clock.h"
#include "controller/decider.h"
#include "controller/event_ring.h"
#include "controller/job_model.h"
#include "controller/journal.h"
#include "controller/live_jobs.h"
#include "controller/live_telemetry.h"
#include "controller/occupancy.h"
#include "controller/slots.h"
#include "jobspec/job_spec.h"
#include "model/cluster_state.h"
#include "policy/policy.h"
#include "store/store.h"

namespace berth {

struct ControllerOptions {
  std::string policy = "berth";
  std::vector<PolicyOption> policy_options;
  std::uint64_t seed = 1;
  SlotOptions slots;
  std::uint32_t default_cpu_milli = 1000;  // of a worker that states neither GPUs nor cores
  // A job is tried again so often after machines or supervisors died under it.
  std::uint32_t most_losses = 10;
  // A job that has begun is given other places, or another width, at the earliest after so long: on
  // real machines each time is a restart. What the policy decides meanwhile comes to one change, or
  // to none. Policies' own rules (least_run_s, cooldown_s) say who may be asked to leave or moved
  // to relieve a server; that a job may grow at once is right only where it costs nothing.
  TimeUs resize_after_us = kUsPerMin;
  // Ended jobs that predictors learn from after a restart.
  std::size_t history_jobs = 512;
  TimeSource time = machine_time();
};

struct Submission {
  JobSpec spec;  // checked (jobspec/job_file.h)
  Credentials user;
  std::string user_name;
  // The same token of the same user: the same job, submitted once. With another job: refused.
  std::string token;
  bool held = false;
};

class Controller {
 public:
  // Takes up what the store says was there before: waits for nothing that still runs. Store and
  // backend must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Controller>> open(const ControllerOptions& options,
                                                                Store& store, Backend& backend);

  // All of them or none; they are stored when this returns. An error of kind kBadInput names the
  // field; kIo: the store cannot be written now.
  [[nodiscard]] Result<std::vector<JobNumber>> submit(std::span<const Submission> submissions);
  // Each says kUsage where the job does not exist or is in no state for it.
  [[nodiscard]] Status cancel(JobNumber number, bool now);
  [[nodiscard]] Status hold(JobNumber number, HoldState by);
  [[nodiscard]] Status release(JobNumber number);
  // A running job starts again; one that has ended waits again.
  [[nodiscard]] Status requeue(JobNumber number);

  // Takes what the backend tells and what jobs report, decides, acts.
  void poll();
  // How long poll() has nothing to do, if nothing happens; at most `most_us`.
  [[nodiscard]] TimeUs idle_us(TimeUs most_us) const;
  // Writes what is to be written with the safety of Durability::kPower: at the end.
  [[nodiscard]] Status settle();

  [[nodiscard]] const LiveJobs& jobs() const { return jobs_; }
  [[nodiscard]] const ClusterState& state() const { return *state_; }
  [[nodiscard]] const Slots& slots() const { return slots_; }
  [[nodiscard]] const Decider& decider() const { return decider_; }
  [[nodiscard]] const SchedulerClock& clock() const { return clock_; }
  [[nodiscard]] const LiveTelemetry& telemetry() const { return telemetry_; }
  [[nodiscard]] const EventRing& events() const { return events_; }
  // Whether the policy has seen all there is: only then can it be asked for its terms.
  [[nodiscard]] bool has_decided() const { return state_->version() == decided_at_; }
  [[nodiscard]] const std::string& trouble() const {
    return lost_store_.empty() ? journal_.trouble() : lost_store_;
  }
  [[nodiscard]] const ControllerOptions& options() const { return options_; }
  // In the state, oldest first.
  [[nodiscard]] std::span<const JobId> ended() const { return ended_ids_; }
  [[nodiscard]] std::vector<bool> usable_devices() const { return backend_.usable_devices(); }
  // The job as it stands, with its specification if it is stored; nothing: there is no such job.
  [[nodiscard]] Result<std::optional<JobRecord>> record(JobNumber number) const;
  // The same of one that has not ended, without its specification.
  [[nodiscard]] JobRecord record_of(const LiveJob& job) const;
  // The policy wants it elsewhere or of another width: when that is done at the earliest.
  [[nodiscard]] std::optional<TimeUs> resizes_at_us(const LiveJob& job) const;
  // Placed by the policy, but waits until those have left who hold its devices.
  [[nodiscard]] bool waits_for_room(const LiveJob& job) const {
    return blocked_.contains(job.record.number);
  }

 private:
  Controller(const ControllerOptions& options, std::unique_ptr<Policy> policy, Slots slots,
             const std::optional<ClockMark>& mark, Store& store, Backend& backend);

  // recovery.cpp
  [[nodiscard]] Status recover();
  [[nodiscard]] Status recover_job(const JobRecord& record, const AttemptRecord* attempt);
  [[nodiscard]] std::string places_text(std::span<const TaskPlace> places) const;
  [[nodiscard]] std::optional<std::vector<TaskPlace>> read_places(std::string_view json) const;
  void follow_reports_of(LiveJob& job, const JobSpec& spec, std::uint32_t attempt);
  void renew_state();

  [[nodiscard]] Status same_job(const JobRecord& submitted) const;
  [[nodiscard]] Result<LiveJob*> active_job(JobNumber number);

  // lifecycle.cpp: what becomes of a job
  void admit(LiveJob& job, const JobSpec& spec, std::span<const TaskPlace> running_at = {});
  void admit_stored(LiveJob& job);
  void withdraw(LiveJob& job);
  void finish(LiveJob& job, JobStatus status, std::string words);
  void try_again(LiveJob& job, TimeUs delay_us, std::string words);
  void on_started(const std::string& key, const ProcessId& supervisor);
  void on_ended(const std::string& key, const AttemptEnd& end);
  void settle_end(LiveJob& job, const AttemptEnd& end, bool asked);
  void fail_or_retry(LiveJob& job, std::string words);

  // acting.cpp: from places to processes
  void reconcile(LiveJob& job);
  void launch(LiveJob& job, std::vector<TaskPlace> places);
  void begin_stop(LiveJob& job, std::string_view reason, bool now);
  [[nodiscard]] AttemptLaunch attempt_launch(const LiveJob& job, const JobSpec& spec,
                                             std::span<const TaskPlace> places) const;
  [[nodiscard]] std::vector<TaskPlace> wanted_places(const LiveJob& job) const;
  [[nodiscard]] bool may_resize(LiveJob& job);
  [[nodiscard]] Result<JobSpec> stored_spec(JobNumber number) const;

  void touch(LiveJob& job);
  void decide_if_due(TimeUs now_us);
  void heed_stops(const Decision& decision);
  void heed_timers(TimeUs now_us);
  void heed_reports(TimeUs now_us);
  void heed_report(LiveJob& job);
  void heed_devices();
  void end_by(LiveJob& job, Fate fate, std::string words, bool now = false);
  void retry_blocked();
  void look_at_store(TimeUs now_us);
  void flush();
  void note(std::string_view kind, const LiveJob& job, std::string detail);

  ControllerOptions options_;
  Store& store_;
  Backend& backend_;
  SchedulerClock clock_;
  Slots slots_;
  JobModel model_;
  Occupancy occupancy_;
  std::unique_ptr<ClusterState> state_;
  LiveJobs jobs_;
  LiveTelemetry telemetry_{jobs_};
  Decider decider_;
  Journal journal_;
  EventRing events_;
  std::vector<JobId> ended_ids_;  // in the state, oldest first: what predictors learn from

  std::set<JobNumber> placed_;                          // with an attempt
  std::set<JobNumber> blocked_;                         // waits_for_room()
  std::set<std::pair<TimeUs, JobNumber>> delayed_;      // not before that instant
  std::set<std::pair<TimeUs, JobNumber>> time_limits_;  // of running ones
  std::set<std::pair<TimeUs, JobNumber>> resizes_;      // not before that instant
  Version decided_at_ = ~Version{0};
  TimeUs next_round_us_ = 0;  // not before
  TimeUs policy_wake_us_ = kNever;
  TimeUs next_reports_us_ = 0;
  JobNumber reports_read_to_ = 0;
  TimeUs next_flush_us_ = 0;  // after one that failed
  TimeUs last_power_us_ = 0;  // of the last batch that survives a loss of power
  bool unsafe_ = false;       // something written since then
  std::string lost_store_;    // what Store::still_there() said last
  TimeUs next_look_us_ = 0;   // at the store's file
};

}  // namespace berth
