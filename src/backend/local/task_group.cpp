#include "backend/local/task_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>

#include "base/number.h"
#include "base/text.h"

namespace berth::local {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kQuotaUsPerMilli = kPeriodUs / 1000;
constexpr std::int64_t kLeastQuotaUs = 1000;  // the kernel refuses less
constexpr std::int64_t kBytesPerMib = 1 << 20;

bool put(const std::string& file, std::string_view text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write_whole(fd.get(), text);
}

Error group_error(const std::string& file) {
  return io_error(file, fmt::format("cannot set up the control group: {}", std::strerror(errno)));
}

std::string folder_in(const std::string& folders, const std::string& key, std::uint32_t task) {
  return folders.empty() ? std::string() : fmt::format("{}/{}.{}", folders, key, task);
}

Status make_group(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail(group_error(folder));
}

Status set(const std::string& folder, const char* file, const std::string& value) {
  const std::string path = folder + "/" + file;
  if (!put(path, value)) return fail(group_error(path));
  return {};
}

std::int64_t quota_us(std::uint32_t cpu_milli) {
  return std::max(kLeastQuotaUs, std::int64_t{cpu_milli} * kQuotaUsPerMilli);
}

std::int64_t bytes(std::uint32_t mib) {
  return std::int64_t{mib} * kBytesPerMib;
}

// "oom_kill 3" of memory.events (version 2) or memory.oom_control (version 1).
bool has_killed(const std::string& file) {
  constexpr std::size_t kMaxBytes = 4096;
  const auto text = read_file(file, kMaxBytes);
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() == 2 && words[0] == "oom_kill") return parse_int(words[1]).value_or(0) > 0;
  }
  return false;
}

bool enter(const std::string& folder) {
  return folder.empty() || put(folder + "/cgroup.procs", "0");
}

void remove_group(const std::string& folder) {
  if (!folder.empty()) (void)::rmdir(folder.c_str());
}

}  // namespace

Result<TaskGroup> TaskGroup::make(const GroupFolders& folders, const std::string& key,
                                  const TaskRequest& task) {
  const TaskLimits& limits = task.limits;
  TaskGroup group;
  if (!folders.unified.empty()) {
    group.unified_ = folder_in(folders.unified, key, task.task);
    BERTH_CHECK_OK(make_group(group.unified_));
    if (limits.cpu_milli != 0) {
      BERTH_CHECK_OK(set(group.unified_, "cpu.max",
                         fmt::format("{} {}", quota_us(limits.cpu_milli), kPeriodUs)));
    }
    if (limits.memory_mib != 0) {
      BERTH_CHECK_OK(
          set(group.unified_, "memory.max", fmt::format("{}", bytes(limits.memory_mib))));
    }
    return group;
  }
  if (!folders.cpu.empty() && limits.cpu_milli != 0) {
    group.cpu_ = folder_in(folders.cpu, key, task.task);
    BERTH_CHECK_OK(make_group(group.cpu_));
    BERTH_CHECK_OK(set(group.cpu_, "cpu.cfs_period_us", fmt::format("{}", kPeriodUs)));
    BERTH_CHECK_OK(
        set(group.cpu_, "cpu.cfs_quota_us", fmt::format("{}", quota_us(limits.cpu_milli))));
  }
  if (!folders.memory.empty() && limits.memory_mib != 0) {
    group.memory_ = folder_in(folders.memory, key, task.task);
    BERTH_CHECK_OK(make_group(group.memory_));
    BERTH_CHECK_OK(
        set(group.memory_, "memory.limit_in_bytes", fmt::format("{}", bytes(limits.memory_mib))));
  }
  return group;
}

bool TaskGroup::join() const {
  return enter(unified_) && enter(cpu_) && enter(memory_);
}

bool TaskGroup::out_of_memory() const {
  if (!unified_.empty()) return has_killed(unified_ + "/memory.events");
  return !memory_.empty() && has_killed(memory_ + "/memory.oom_control");
}

void TaskGroup::kill() const {
  if (!unified_.empty()) (void)put(unified_ + "/cgroup.kill", "1");
}

void TaskGroup::remove() const {
  remove_group(unified_);
  remove_group(cpu_);
  remove_group(memory_);
}

void TaskGroup::kill_all(const GroupFolders& folders, const std::string& key, std::uint32_t task) {
  TaskGroup group;
  group.unified_ = folder_in(folders.unified, key, task);
  group.kill();
}

void TaskGroup::remove_all(const GroupFolders& folders, const std::string& key,
                           std::uint32_t task) {
  for (const std::string* folder : {&folders.unified, &folders.cpu, &folders.memory}) {
    remove_group(folder_in(*folder, key, task));
  }
}

}  // namespace berth::local
