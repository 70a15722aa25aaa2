#include "server/api_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "policy/common/cached_policy.h"
#include "report/json.h"
#include "report/priority.h"
#include "report/reason_text.h"

namespace berth {
namespace {

Json unix_s(std::int64_t unix_us) {
  if (unix_us < 0) return nullptr;
  return static_cast<double>(unix_us / 1000) / 1000.0;
}

double rounded_s(TimeUs us) {
  return static_cast<double>(us / 1000) / 1000.0;
}

std::string job_words(const Controller& controller, JobId id) {
  const LiveJob* job = controller.jobs().find(id);
  if (job == nullptr) return "a job that has ended";
  const std::string& name = job->record.name;
  return name.empty() ? fmt::format("job {}", job->record.number)
                      : fmt::format("job {} ({})", job->record.number, printable(name));
}

struct Words {
  std::string code;
  std::string text;
};

// Of a job that the policy sees.
Words policy_reason(const Controller& controller, const LiveJob& job) {
  const ClusterState& state = controller.state();
  const Reason reason = state.reason(job.id);
  const JobId head = reason.code == ReasonCode::kBehindHead ? state.head(reason.subject) : JobId{};
  const auto name = [&](JobId id) { return job_words(controller, id); };
  // Before a policy has looked at it, it may be plain that it never fits.
  const Reason never = never_reason(state.cluster(), state.job(job.id));
  const Reason& shown = never.code != ReasonCode::kNone ? never : reason;
  const bool on_cores = state.job(job.id).gpu_types == controller.slots().core_mask();
  if (shown.code == ReasonCode::kNeverGpuType && !on_cores) {
    return {std::string(reason_name(shown.code)), "there is no GPU that it accepts"};
  }
  return {std::string(reason_name(shown.code)),
          reason_text(shown, name, head, on_cores ? "core" : "GPU")};
}

Words reason_of(const Controller& controller, const JobRecord& record, const LiveJob* live) {
  const std::string_view state = job_state_name(record, live);
  if (live == nullptr) {
    return {std::string(state), record.message.empty() ? std::string(state) : record.message};
  }
  if (live->attempt) {
    const AttemptRecord& attempt = live->attempt->record;
    if (attempt.phase == AttemptPhase::kStopping) {
      return {"stopping", "is asked to leave: " + attempt.stop_reason};
    }
    if (attempt.phase == AttemptPhase::kIntended) return {std::string(state), "is being started"};
    if (const auto at_us = controller.resizes_at_us(*live)) {
      const TimeUs left_us = std::max<TimeUs>(0, *at_us - controller.clock().now_us());
      return {std::string(state),
              fmt::format("runs; is begun again with other places in {}", human_duration(left_us))};
    }
    return {std::string(state), "runs"};
  }
  if (record.hold != HoldState::kNone) {
    return {"held", record.hold == HoldState::kByUser ? "held by its user" : "held by an operator"};
  }
  if (!live->id.valid()) {
    const TimeUs left_us = live->not_before_us - controller.clock().now_us();
    return {"retry", fmt::format("is tried again in {}: {}",
                                 human_duration(std::max<TimeUs>(0, left_us)), record.message)};
  }
  if (!controller.trouble().empty()) {
    return {"store",
            "nothing is started while the store cannot be written: " + controller.trouble()};
  }
  if (controller.waits_for_room(*live)) {
    return {"waits-for-room", "has its place; waits until the jobs there have left"};
  }
  return policy_reason(controller, *live);
}

Json start_json(const StartEstimate& estimate) {
  if (estimate.draws == 0) return nullptr;
  const auto bound = [](TimeUs us) { return us >= kNever ? Json() : Json(rounded_s(us)); };
  return {{"low_s", rounded_s(estimate.low_us)},
          {"median_s", rounded_s(estimate.median_us)},
          {"high_s", bound(estimate.high_us)},
          {"interval", 0.9},
          {"draws", estimate.draws},
          {"log_error", estimate.log_error},
          {"learned_from", estimate.learned_from}};
}

void add_priority(const Controller& controller, const LiveJob& live, Json& out) {
  if (!controller.has_decided()) return;
  ClusterView view = controller.state().view(controller.clock().now_us());
  view.telemetry = &controller.telemetry();
  const auto priority = explain_priority(view, {}, controller.decider().policy(),
                                         controller.decider().predictors(), live.id);
  if (!priority) return;
  Json terms = {{"terms", to_json(std::span<const PriorityTerm>(priority->own))},
                {"sum", priority_sum(priority->own)},
                {"against", nullptr},
                {"decisive", nullptr}};
  if (const LiveJob* other = controller.jobs().find(priority->other); other != nullptr) {
    terms["against"] = {{"job", other->record.number},
                        {"name", other->record.name},
                        {"terms", to_json(std::span<const PriorityTerm>(priority->others))},
                        {"sum", priority_sum(priority->others)}};
    if (priority->decisive) terms["decisive"] = priority->own[*priority->decisive].name;
  }
  out["priority"] = std::move(terms);
}

void add_estimate(const Controller& controller, const LiveJob& live, TimeUs budget_us, Json& out) {
  constexpr std::size_t kShown = 20;
  const StartEstimate estimate = estimate_start(controller, live.record.number, budget_us);
  out["start"] = start_json(estimate);
  if (estimate.draws == 0) {
    out["no_estimate"] = estimate.why_not;
    return;
  }
  Json ahead = Json::array();
  for (const JobNumber number : estimate.ahead) {
    if (ahead.size() == kShown) break;
    const LiveJob* job = controller.jobs().find(number);
    ahead.push_back({{"job", number}, {"name", job != nullptr ? job->record.name : ""}});
  }
  out["ahead"] = std::move(ahead);
  out["ahead_count"] = estimate.ahead.size();
}

}  // namespace

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string_view job_state_name(const JobRecord& record, const LiveJob* live) {
  switch (record.state.status) {
    case JobStatus::kFinished:
      return "finished";
    case JobStatus::kStopped:
      return "stopped";
    case JobStatus::kFailed:
      return "failed";
    case JobStatus::kPending:
    case JobStatus::kRunning:
      break;
  }
  if (live != nullptr && live->attempt) {
    switch (live->attempt->record.phase) {
      case AttemptPhase::kIntended:
        return "starting";
      case AttemptPhase::kStopping:
        return "stopping";
      case AttemptPhase::kRunning:
      case AttemptPhase::kEnded:
        return "running";
    }
  }
  return record.hold != HoldState::kNone ? "held" : "pending";
}

void add_reports(const JobReports& reports, Json& out) {
  if (const auto done = reports.iterations()) {
    out["iterations"] = *done;
    if (const auto loss = reports.curve().loss_at(*done)) out["loss"] = *loss;
    if (const auto accuracy = reports.curve().accuracy_at(*done)) out["accuracy"] = *accuracy;
  }
  if (reports.damaged() > 0) {
    out["damaged_reports"] = reports.damaged();
    out["last_damaged_report"] = reports.last_issue();
  }
}

Json job_json(const Controller& controller, const JobRecord& record, const LiveJob* live) {
  const TimeUs now_us = controller.clock().now_us();
  const JobState& state = record.state;
  const Words reason = reason_of(controller, record, live);
  Json out = {{"job", record.number},
              {"name", record.name},
              {"user", record.user},
              {"uid", record.uid},
              {"state", job_state_name(record, live)},
              {"submitted_unix_s", unix_s(record.submit_unix_us)},
              {"ended_unix_s", unix_s(record.end_unix_us)}};
  // All the time that it has not run, held or not.
  const TimeUs until_us = state.ended() ? state.last_stop_us : now_us;
  const TimeUs ran_us = state.attained_by(now_us);
  out["wait_s"] = rounded_s(std::max<TimeUs>(0, until_us - record.submit_us - ran_us));
  out["run_s"] = rounded_s(ran_us);
  out["attempts"] = record.attempts;
  out["preemptions"] = state.preemptions;
  out["failures"] = record.failures;
  out["losses"] = record.losses;
  out["iterations"] = record.iterations >= 0 ? Json(record.iterations) : Json();
  out["loss"] = nullptr;
  out["accuracy"] = nullptr;
  if (live != nullptr && live->reports) add_reports(*live->reports, out);
  out["reason"] = {{"code", reason.code}, {"text", reason.text}};
  out["message"] = record.message;
  out["places"] = Json::array();
  if (live != nullptr && live->attempt) {
    out["places"] = Json::parse(live->attempt->record.places_json, nullptr, false);
  }
  return out;
}

Json attempts_json(const std::vector<AttemptRecord>& attempts) {
  Json out = Json::array();
  for (const AttemptRecord& attempt : attempts) {
    static constexpr std::string_view kPhases[] = {"starting", "running", "stopping", "ended"};
    Json row = {{"attempt", attempt.attempt},
                {"phase", kPhases[static_cast<std::size_t>(attempt.phase)]},
                {"started_unix_s", unix_s(attempt.start_unix_us)},
                {"ended_unix_s", unix_s(attempt.end_unix_us)},
                {"asked_to_leave", attempt.stop_reason},
                {"places", Json::parse(attempt.places_json, nullptr, false)},
                {"end", nullptr}};
    if (!attempt.end_json.empty()) row["end"] = Json::parse(attempt.end_json, nullptr, false);
    out.push_back(std::move(row));
  }
  return out;
}

Json why_json(const Controller& controller, const JobRecord& record, const LiveJob* live,
              TimeUs budget_us) {
  const Words reason = reason_of(controller, record, live);
  Json out = {{"job", record.number},
              {"name", record.name},
              {"state", job_state_name(record, live)},
              {"policy", controller.options().policy},
              {"reason", {{"code", reason.code}, {"text", reason.text}}},
              {"message", record.message},
              {"priority", nullptr},
              {"ahead", Json::array()},
              {"ahead_count", nullptr},
              {"start", nullptr},
              {"no_estimate", nullptr}};
  if (live == nullptr || !live->id.valid()) return out;
  add_priority(controller, *live, out);
  const bool waits = controller.state().state(live->id).status == JobStatus::kPending;
  const bool never = reason.code.starts_with("never");
  if (waits && !never) add_estimate(controller, *live, budget_us, out);
  return out;
}

namespace {

// Processes by server; a worker with several devices is one.
std::vector<std::uint32_t> tasks_by_server(const Controller& controller) {
  std::vector<std::uint32_t> out(controller.slots().cluster().servers.size(), 0);
  for (const auto& [number, job] : controller.jobs()) {
    if (!job.attempt) continue;
    std::optional<std::uint32_t> last;
    for (const TaskPlace& place : job.attempt->places) {
      const std::uint32_t worker = place.task / job.attempt->slots_per_worker;
      if (last != worker) ++out[place.to.server.index()];
      last = worker;
    }
  }
  return out;
}

}  // namespace

Json nodes_json(const Controller& controller) {
  const Cluster& cluster = controller.slots().cluster();
  const ClusterView view = controller.state().view(controller.clock().now_us());
  const std::vector<std::uint32_t> tasks = tasks_by_server(controller);
  Json out = Json::array();
  for (std::size_t s = 0; s < cluster.servers.size(); ++s) {
    const Server& server = cluster.servers[s];
    const GpuType& type = cluster.gpu_types[server.gpu_type.index()];
    Json devices = Json::array();
    std::int64_t free_milli = 0;
    for (std::uint32_t d = 0; d < server.gpus; ++d) {
      const DeviceState& device = view.devices[server.first_device.value + d];
      devices.push_back({{"device", d},
                         {"up", device.up},
                         {"free", static_cast<double>(device.free_milli) / 1000.0},
                         {"tasks", device.tasks}});
      if (device.up) free_milli += device.free_milli;
    }
    out.push_back({{"node", server.name},
                   {"kind", type.name == kCoreType ? "cores" : "GPUs"},
                   {"type", type.name},
                   {"up", view.servers[s].up},
                   {"devices", server.gpus},
                   {"free", static_cast<double>(free_milli) / 1000.0},
                   {"tasks", tasks[s]},
                   {"memory_mib_per_device", type.memory_mib > 0 ? Json(type.memory_mib) : Json()},
                   {"each", std::move(devices)}});
  }
  return out;
}

}  // namespace berth
