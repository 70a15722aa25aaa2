// What the store says was there before: jobs that wait, attempts that may still run, and jobs that
// have ended, from which predictors learn.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "controller/controller.h"
#include "jobspec/job_file.h"

namespace berth {

// Servers and devices by name and position: ids are of one run of the scheduler.
std::string Controller::places_text(std::span<const TaskPlace> places) const {
  auto out = nlohmann::ordered_json::array();
  for (const TaskPlace& place : places) {
    const Server& server = slots_.cluster().servers[place.to.server.index()];
    nlohmann::ordered_json row;
    row["task"] = place.task;
    row["server"] = server.name;
    if (place.to.device.valid()) {
      row["device"] = place.to.device.value - server.first_device.value;
    }
    out.push_back(std::move(row));
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Nothing: a server or device is no longer there.
std::optional<std::vector<TaskPlace>> Controller::read_places(std::string_view json) const {
  const auto rows = nlohmann::json::parse(json, nullptr, false);
  if (!rows.is_array()) return std::nullopt;
  std::vector<TaskPlace> out;
  for (const auto& row : rows) {
    if (!row.is_object() || !row.contains("task") || !row["task"].is_number_unsigned() ||
        !row.contains("server") || !row["server"].is_string()) {
      return std::nullopt;
    }
    const auto& servers = slots_.cluster().servers;
    const auto found = std::ranges::find(servers, row["server"].get<std::string>(), &Server::name);
    if (found == servers.end()) return std::nullopt;
    TaskPlace place{row["task"].get<std::uint32_t>(),
                    {ServerId{static_cast<std::size_t>(found - servers.begin())}, {}}};
    if (row.contains("device")) {
      if (!row["device"].is_number_unsigned() ||
          row["device"].get<std::uint64_t>() >= found->gpus) {
        return std::nullopt;
      }
      place.to.device = DeviceId{found->first_device.value + row["device"].get<std::uint32_t>()};
    }
    out.push_back(place);
  }
  return out;
}

void Controller::follow_reports_of(LiveJob& job, const JobSpec& spec, std::uint32_t attempt) {
  if (!job.reports) job.reports = std::make_unique<JobReports>();
  job.reports->follow_run(spec, backend_.folder(attempt_key(job.record.number, attempt)),
                          job.record.uid);
}

Status Controller::recover_job(const JobRecord& stored, const AttemptRecord* attempt) {
  JobRecord record = stored;
  const Result<JobSpec> spec = read_job_json(record.spec_json);
  record.spec_json.clear();
  record.token.clear();
  LiveJob& job = jobs_.add(std::move(record));
  if (!spec) {
    finish(job, JobStatus::kFailed, "its specification cannot be read: " + spec.error().text());
    return {};
  }
  for (std::uint32_t a = 1; a <= job.record.attempts; ++a) follow_reports_of(job, *spec, a);
  std::vector<TaskPlace> places;
  if (attempt != nullptr) {
    if (auto read = read_places(attempt->places_json)) places = std::move(*read);
  }
  const bool runs_on = attempt != nullptr && !places.empty() &&
                       attempt->phase != AttemptPhase::kStopping && !job.record.cancelled;
  JobState& state = job.record.state;
  if (runs_on && state.status != JobStatus::kRunning) {
    state.status = JobStatus::kRunning;
    state.last_start_us = clock_.now_us();
  } else if (!runs_on && state.status == JobStatus::kRunning) {
    // Its attempt was not begun, or is on its way out.
    state.attained_us = state.attained_by(clock_.now_us());
    state.status = JobStatus::kPending;
  }
  if (job.record.cancelled) {
    job.fate = Fate::kCancelled;
    job.fate_words = "cancelled";
  }
  const bool visible = job.fate == Fate::kGoOn && job.record.hold == HoldState::kNone;
  if (visible) admit(job, *spec, places);
  if (attempt == nullptr) {
    if (job.fate != Fate::kGoOn) finish(job, JobStatus::kStopped, job.fate_words);
    return {};
  }
  const ModelledJob modelled =
      model_.model(*spec, job.record.user, job.record.submit_us, MaybeInt{});
  occupancy_.take(modelled.job, places);
  TimeUs since_us = clock_.now_us();
  if (attempt->start_unix_us >= 0) {
    since_us = std::min(since_us, clock_.from_unix_us(attempt->start_unix_us));
  }
  job.attempt = LiveAttempt{.record = *attempt,
                            .places = std::move(places),
                            .held = modelled.job,
                            .slots_per_worker = model_.tasks_per_worker(*spec),
                            .since_us = since_us};
  placed_.insert(job.record.number);
  job.reports->set_replicas(static_cast<std::uint32_t>(
      std::max<std::size_t>(1, job.attempt->places.size() / modelled.job.partitions())));
  std::optional<ProcessId> supervisor;
  if (attempt->pid > 0) {
    supervisor = ProcessId{attempt->pid, attempt->start_ticks, attempt->boot_id};
  }
  const std::string key = attempt_key(attempt->job, attempt->attempt);
  backend_.adopt(key, supervisor);
  // What it was asked before may not have reached it.
  if (attempt->phase == AttemptPhase::kStopping) journal_.after(StopAct{key, false});
  touch(job);
  if (job.attempt->places.empty()) {
    begin_stop(job, "its place is gone", false);
  } else {
    reconcile(job);
  }
  return {};
}

Status Controller::recover() {
  BERTH_TRY(const std::vector<JobRecord> ended, store_.recently_ended(options_.history_jobs));
  for (const JobRecord& record : ended) {
    const Result<JobSpec> spec = read_job_json(record.spec_json);
    if (!spec) continue;
    ModelledJob known = model_.model(*spec, record.user, record.submit_us, MaybeInt{});
    known.job.replicas = 1;  // no graph is kept of what has ended
    ended_ids_.push_back(state_->add_known_job(known.job, record.state, {}, clock_.now_us()));
  }
  BERTH_TRY(const std::vector<AttemptRecord> open, store_.open_attempts());
  std::map<JobNumber, const AttemptRecord*> open_of;
  for (const AttemptRecord& attempt : open) open_of[attempt.job] = &attempt;
  std::vector<JobRecord> active;
  BERTH_CHECK_OK(store_.each_active([&](const JobRecord& record) { active.push_back(record); }));
  for (JobRecord& record : active) {
    const auto attempt = open_of.find(record.number);
    BERTH_CHECK_OK(recover_job(record, attempt == open_of.end() ? nullptr : attempt->second));
    record = {};  // its specification is not kept in memory
  }
  heed_devices();
  return {};
}

// Of the jobs that have ended only the last ones are worth their memory.
void Controller::renew_state() {
  auto fresh = std::make_unique<ClusterState>(slots_.cluster(), std::vector<Job>{});
  const TimeUs now_us = clock_.now_us();
  const std::size_t kept = std::min(ended_ids_.size(), options_.history_jobs);
  std::vector<JobId> ended;
  for (const JobId id : std::span(ended_ids_).last(kept)) {
    Job job = state_->job(id);
    job.graph = {};
    job.replicas = 1;
    ended.push_back(fresh->add_known_job(job, state_->state(id), {}, now_us));
  }
  std::vector<std::pair<LiveJob*, JobId>> bound;
  for (auto& [number, job] : jobs_) {
    if (!job.id.valid()) continue;
    Job declared = state_->job(job.id);
    if (declared.graph.valid()) {
      declared.graph = fresh->add_graph(state_->view(now_us).graphs[declared.graph.index()]);
    }
    bound.emplace_back(
        &job, fresh->add_known_job(declared, state_->state(job.id), wanted_places(job), now_us));
  }
  for (std::size_t d = 0; d < slots_.cluster().devices.size(); ++d) {
    fresh->set_device_up(DeviceId{d}, state_->view(now_us).devices[d].up);
  }
  state_ = std::move(fresh);
  ended_ids_ = std::move(ended);
  jobs_.unbind_all();
  for (const auto& [job, id] : bound) jobs_.bind(*job, id);
  decider_.forget();
  decided_at_ = ~Version{0};
}

}  // namespace berth
