// From places to processes: each job has at most one attempt, and where it is not what the policy
// wants it is stopped, and begun anew when its devices are free.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "controller/controller.h"
#include "jobspec/job_file.h"

namespace berth {
namespace {

int signal_number(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 5> kSignals{
      {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}}};
  for (const auto& [known, number] : kSignals) {
    if (known == name) return number;
  }
  return 0;
}

// A port of this machine that nobody listens on now. torch.distributed listens on it soon after.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 29'500;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  int port = 29'500;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    port = ntohs(address.sin_port);
  }
  close(fd);
  return port;
}

bool same_places(std::span<const TaskPlace> a, std::span<const TaskPlace> b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.task == y.task && x.to == y.to; });
}

}  // namespace

Result<JobSpec> Controller::stored_spec(JobNumber number) const {
  BERTH_TRY(const std::optional<JobRecord> stored, store_.job(number));
  if (!stored) return fail(internal_error(fmt::format("job {} is not in the store", number)));
  return read_job_json(stored->spec_json);
}

std::vector<TaskPlace> Controller::wanted_places(const LiveJob& job) const {
  std::vector<TaskPlace> out;
  if (!job.id.valid() || state_->state(job.id).status != JobStatus::kRunning) return out;
  const std::span<const Placement> places = state_->places_of(job.id);
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    if (places[k].server.valid()) out.push_back({k, places[k]});
  }
  return out;
}

bool Controller::may_resize(LiveJob& job) {
  const TimeUs at_us = job.attempt->since_us + options_.resize_after_us;
  if (clock_.now_us() >= at_us) return true;
  resizes_.emplace(at_us, job.record.number);
  return false;
}

std::optional<TimeUs> Controller::resizes_at_us(const LiveJob& job) const {
  if (!job.attempt || job.attempt->record.phase == AttemptPhase::kStopping) return std::nullopt;
  const std::vector<TaskPlace> wanted = wanted_places(job);
  if (wanted.empty() || same_places(wanted, job.attempt->places)) return std::nullopt;
  return job.attempt->since_us + options_.resize_after_us;
}

void Controller::reconcile(LiveJob& job) {
  std::vector<TaskPlace> wanted = wanted_places(job);
  blocked_.erase(job.record.number);
  if (job.attempt) {
    if (same_places(wanted, job.attempt->places)) return;
    if (job.attempt->record.phase == AttemptPhase::kStopping) return;
    if (!wanted.empty() && !may_resize(job)) return;
    const std::string_view reason = job.record.hold != HoldState::kNone ? "held"
                                    : wanted.empty()                    ? "preempted"
                                                                        : "moved";
    return begin_stop(job, reason, false);
  }
  if (wanted.empty()) return;
  if (!occupancy_.has_room(state_->job(job.id), wanted)) {
    blocked_.insert(job.record.number);
    return;
  }
  launch(job, std::move(wanted));
}

AttemptLaunch Controller::attempt_launch(const LiveJob& job, const JobSpec& spec,
                                         std::span<const TaskPlace> places) const {
  AttemptLaunch out{.key = attempt_key(job.record.number, job.record.attempts),
                    .user = {job.record.uid, job.record.gid},
                    .command = spec.command,
                    .directory = spec.directory,
                    .environment = spec.environment,
                    .tasks = model_.launches(spec, places),
                    .checkpoint_signal = signal_number(spec.checkpoint.signal),
                    .grace_us = spec.checkpoint.grace_us,
                    .term_grace_us = spec.checkpoint.term_grace_us,
                    .log_limit_bytes = spec.log_limit_bytes};
  // What a job prints is to be seen while it runs.
  const auto unbuffered = [](const auto& variable) { return variable.first == "PYTHONUNBUFFERED"; };
  if (std::ranges::none_of(out.environment, unbuffered)) {
    out.environment.emplace_back("PYTHONUNBUFFERED", "1");
  }
  const std::string master_port = out.tasks.size() > 1 ? std::to_string(free_port()) : "29500";
  const std::uint32_t workers = spec.replicas * spec.partitions;
  for (std::size_t rank = 0; rank < out.tasks.size(); ++rank) {
    TaskLaunch& task = out.tasks[rank];
    const auto beside = std::ranges::count(out.tasks, task.server, &TaskLaunch::server);
    const auto local = std::count_if(out.tasks.begin(), out.tasks.begin() + rank,
                                     [&](const auto& t) { return t.server == task.server; });
    auto& environment = task.environment;
    environment = {{"RANK", std::to_string(rank)},
                   {"WORLD_SIZE", std::to_string(out.tasks.size())},
                   {"LOCAL_RANK", std::to_string(local)},
                   {"LOCAL_WORLD_SIZE", std::to_string(beside)},
                   {"MASTER_ADDR", "127.0.0.1"},
                   {"MASTER_PORT", master_port},
                   {"BERTH_JOB", std::to_string(job.record.number)},
                   {"BERTH_ATTEMPT", std::to_string(job.record.attempts)},
                   {"BERTH_CHECKPOINT_SIGNAL", spec.checkpoint.signal},
                   {"BERTH_ROLE", task.task < workers ? "worker" : "parameter-server"}};
    if (task.task < workers) {
      environment.emplace_back("BERTH_REPLICA", std::to_string(task.task / spec.partitions));
      environment.emplace_back("BERTH_PARTITION", std::to_string(task.task % spec.partitions));
    }
  }
  return out;
}

void Controller::launch(LiveJob& job, std::vector<TaskPlace> places) {
  const Result<JobSpec> spec = stored_spec(job.record.number);
  if (!spec) return finish(job, JobStatus::kFailed, spec.error().text());
  ++job.record.attempts;
  AttemptLaunch start = attempt_launch(job, *spec, places);
  const Job& held = state_->job(job.id);
  occupancy_.take(held, places);
  job.attempt = LiveAttempt{.record = {.job = job.record.number,
                                       .attempt = job.record.attempts,
                                       .places_json = places_text(places),
                                       .intent_unix_us = clock_.unix_us()},
                            .places = std::move(places),
                            .held = held,
                            .slots_per_worker = model_.tasks_per_worker(*spec),
                            .since_us = clock_.now_us()};
  placed_.insert(job.record.number);
  follow_reports_of(job, *spec, job.record.attempts);
  job.reports->set_replicas(static_cast<std::uint32_t>(
      std::max<std::size_t>(1, job.attempt->places.size() / job.tasks_per_replica)));
  note("starting", job, {});
  touch(job);
  journal_.put(job.attempt->record);
  journal_.after(StartAct{std::move(start)});
}

void Controller::begin_stop(LiveJob& job, std::string_view reason, bool now) {
  AttemptRecord& record = job.attempt->record;
  const bool first = record.phase != AttemptPhase::kStopping;
  if (!first && !now) return;
  record.phase = AttemptPhase::kStopping;
  record.stop_reason = reason;
  journal_.put(record);
  if (first) note("stopping", job, std::string(reason));
  journal_.after(StopAct{attempt_key(record.job, record.attempt), now});
}

}  // namespace berth
