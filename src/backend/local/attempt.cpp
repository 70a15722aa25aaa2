#include "backend/local/attempt.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace berth::local {
namespace {

bool has_zero(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

Status check_user(const Credentials& user, bool allow_root) {
  const uid_t self = ::geteuid();
  if (user.uid == 0 && !allow_root) {
    return fail(
        usage_error("jobs do not run as root; submit it as another user, or allow it with "
                    "berth up --allow-root"));
  }
  if (self != 0 && user.uid != self) {
    return fail(usage_error(fmt::format(
        "jobs of user {} cannot run: the scheduler is not root, and runs those of its own user {} "
        "alone",
        user.uid, self)));
  }
  return {};
}

Status check_environment(const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name) || has_zero(value)) {
      return fail(usage_error("not a possible environment variable", printable(name)));
    }
  }
  return {};
}

Status check_tasks(const std::vector<TaskLaunch>& tasks, const Cluster& cluster) {
  if (tasks.empty()) return fail(internal_error("an attempt without tasks"));
  std::set<std::uint32_t> seen;
  for (const TaskLaunch& task : tasks) {
    if (!seen.insert(task.task).second) {
      return fail(internal_error(fmt::format("task {} is there twice", task.task)));
    }
    const bool known =
        std::all_of(task.devices.begin(), task.devices.end(),
                    [&](const DeviceId device) { return device.index() < cluster.devices.size(); });
    if (!known) return fail(internal_error("a device that the cluster does not have"));
    BERTH_CHECK_OK(check_environment(task.environment));
  }
  return {};
}

}  // namespace

Status check_launch(const AttemptLaunch& launch, const Cluster& cluster, bool allow_root) {
  if (!is_attempt_key(launch.key)) {
    return fail(internal_error("not the key of an attempt: " + printable(launch.key)));
  }
  BERTH_CHECK_OK(check_user(launch.user, allow_root));
  const auto& command = launch.command;
  if (command.empty() || command[0].empty()) return fail(usage_error("no command", "command"));
  if (std::any_of(command.begin(), command.end(), has_zero)) {
    return fail(usage_error("an argument with a zero byte", "command"));
  }
  if (!launch.directory.starts_with('/') || has_zero(launch.directory)) {
    return fail(usage_error("not an absolute path", "directory"));
  }
  const bool known_signal = launch.checkpoint_signal >= 0 && launch.checkpoint_signal < NSIG;
  if (!known_signal || launch.grace_us < 0 || launch.term_grace_us < 0) {
    return fail(internal_error("not a way to stop an attempt"));
  }
  BERTH_CHECK_OK(check_environment(launch.environment));
  return check_tasks(launch.tasks, cluster);
}

}  // namespace berth::local
