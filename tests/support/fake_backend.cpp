#include "support/fake_backend.h"

namespace berth::testing {

Cluster FakeBackend::machine(std::int64_t cores, std::uint32_t gpus, std::int64_t memory_mib) {
  Cluster out;
  out.name = "machine";
  out.gpu_types.push_back({.name = "V100"});
  ResourceVector capacity;
  capacity[Resource::kCpuMilli] = cores * 1000;
  capacity[Resource::kMemoryMib] = memory_mib;
  out.add_server("host", GpuTypeId{std::uint32_t{0}}, gpus, capacity);
  return out;
}

Status FakeBackend::start(const AttemptLaunch& launch) {
  if (on_call) on_call("start", launch.key);
  if (attempts.contains(launch.key)) started_twice.push_back(launch.key);
  attempts[launch.key] = {.launch = launch};
  known_.insert(launch.key);
  started_.push_back(launch.key);
  return {};
}

void FakeBackend::stop(const std::string& key, bool now) {
  if (on_call) on_call("stop", key);
  const auto found = attempts.find(key);
  if (found == attempts.end()) return;
  found->second.told_to_stop = true;
  found->second.killed = found->second.killed || now;
}

void FakeBackend::adopt(const std::string& key, const std::optional<ProcessId>& /*supervisor*/) {
  known_.insert(key);
  const auto found = attempts.find(key);
  if (found == attempts.end()) {
    // It never began, and never will.
    attempts[key].end = AttemptEnd{.kind = AttemptEndKind::kNotStarted, .why = "never began"};
    ended_.push_back(key);
    return;
  }
  if (found->second.end) {
    ended_.push_back(key);
  } else {
    started_.push_back(key);
  }
}

void FakeBackend::poll(const BackendEvents& events) {
  while (!started_.empty()) {
    const std::string key = started_.front();
    started_.pop_front();
    events.started(key, {.pid = 4'000, .start_ticks = 1, .boot_id = "boot"});
  }
  while (!ended_.empty()) {
    const std::string key = ended_.front();
    ended_.pop_front();
    if (known_.erase(key) == 0) continue;
    events.ended(key, *attempts.at(key).end);
  }
}

void FakeBackend::end(const std::string& key, AttemptEnd end) {
  attempts.at(key).end = std::move(end);
  ended_.push_back(key);
}

void FakeBackend::finish(const std::string& key, int exit_code) {
  AttemptEnd out{.kind = AttemptEndKind::kExited};
  for (const TaskLaunch& task : attempts.at(key).launch.tasks) {
    out.tasks.push_back({.task = task.task, .exit_code = exit_code});
  }
  end(key, std::move(out));
}

void FakeBackend::let_leave() {
  for (auto& [key, run] : attempts) {
    if (run.told_to_stop && !run.end) end(key, {.kind = AttemptEndKind::kStopped});
  }
}

void FakeBackend::crash() {
  started_.clear();
  ended_.clear();
  known_.clear();
}

void FakeBackend::renew(Cluster cluster) {
  crash();
  cluster_ = std::move(cluster);
  attempts.clear();
  forgotten.clear();
  started_twice.clear();
  unusable.clear();
}

std::vector<std::string> FakeBackend::running() const {
  std::vector<std::string> out;
  for (const auto& [key, run] : attempts) {
    if (!run.end) out.push_back(key);
  }
  return out;
}

}  // namespace berth::testing
