#include "backend/local/process.h"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/boot_id.h"
#include "base/number.h"
#include "base/text.h"

namespace berth::local {
namespace {

constexpr std::size_t kMaxStatBytes = 4096;
constexpr std::size_t kMaxEnvironmentBytes = 8 << 20;

enum class Mark : std::uint8_t { kNo, kYes, kUnclear };

Mark mark_of(const ProcessStat& process, std::string_view mark) {
  const auto text = read_file(fmt::format("/proc/{}/environ", process.pid), kMaxEnvironmentBytes);
  if (!text) return Mark::kNo;
  if (text->empty()) return process.session == 0 ? Mark::kNo : Mark::kUnclear;  // 0: the kernel's
  for (const std::string_view variable : split(*text, '\0')) {
    if (variable.starts_with(mark)) return Mark::kYes;
  }
  return Mark::kNo;
}

// The session of a task is known by its leader's number, which nobody else gets as long as one
// process is in the session. If the number is another's now, there is none.
bool in_session_of(const ProcessStat& process, const std::vector<TaskProcess>& tasks) {
  for (const TaskProcess& task : tasks) {
    if (process.session != task.pid || process.start_ticks < task.start_ticks) continue;
    const auto leader = process_stat(task.pid);
    if (!leader || leader->start_ticks == task.start_ticks) return true;
  }
  return false;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name stands in parentheses, and may have parentheses and blanks itself.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kSession = 3;
  constexpr std::size_t kStart = 19;
  const auto fields = split(text.substr(close + 2), ' ');
  if (fields.size() <= kStart || fields[0].size() != 1) return std::nullopt;
  const auto pid = parse_int(text.substr(0, open));
  const auto parent = parse_int(fields[kParent]);
  const auto session = parse_int(fields[kSession]);
  const auto start = parse_int(fields[kStart]);
  if (!pid || !parent || !session || !start) return std::nullopt;
  return ProcessStat{.pid = static_cast<pid_t>(*pid),
                     .state = fields[0][0],
                     .parent = static_cast<pid_t>(*parent),
                     .session = static_cast<pid_t>(*session),
                     .start_ticks = static_cast<std::uint64_t>(*start)};
}

std::optional<ProcessStat> process_stat(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), kMaxStatBytes);
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::vector<ProcessStat> all_processes() {
  std::vector<ProcessStat> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  if (!folder) return out;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = parse_int(entry->d_name);
    if (!pid) continue;
    if (const auto stat = process_stat(static_cast<pid_t>(*pid))) out.push_back(*stat);
  }
  return out;
}

int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

void signal_pidfd(int pidfd, int signal) {
  (void)::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
}

void signal_pidfd(int pidfd, int signal, int value) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = value;
  (void)::syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0);
}

std::optional<ProcessId> identity_of(pid_t pid) {
  const auto stat = process_stat(pid);
  if (!stat) return std::nullopt;
  return ProcessId{.pid = pid, .start_ticks = stat->start_ticks, .boot_id = boot_id()};
}

Fd open_process(const ProcessId& id) {
  if (id.pid <= 0 || id.boot_id != boot_id()) return Fd();
  Fd fd(open_pidfd(id.pid));
  if (!fd) return fd;
  // Read after the descriptor was opened: it cannot change its process any more.
  const auto stat = process_stat(id.pid);
  if (!stat || stat->start_ticks != id.start_ticks || stat->state == 'Z') fd.reset();
  return fd;
}

void signal_exactly(const ProcessStat& stat, int signal) {
  const Fd fd =
      open_process({.pid = stat.pid, .start_ticks = stat.start_ticks, .boot_id = boot_id()});
  if (fd) signal_pidfd(fd.get(), signal);
}

std::size_t kill_descendants(pid_t ancestor) {
  const auto processes = all_processes();
  std::multimap<pid_t, const ProcessStat*> children;
  for (const ProcessStat& process : processes) children.emplace(process.parent, &process);
  std::vector<pid_t> open = {ancestor};
  std::size_t killed = 0;
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child) {
      open.push_back(child->second->pid);
      if (child->second->state == 'Z') continue;
      signal_exactly(*child->second, SIGKILL);
      ++killed;
    }
    children.erase(first, last);
  }
  return killed;
}

Remains kill_remains(std::string_view mark, const std::vector<TaskProcess>& tasks) {
  Remains remains;
  std::uint64_t since = 0;
  if (!tasks.empty()) since = tasks[0].start_ticks;
  const pid_t self = ::getpid();
  for (const ProcessStat& process : all_processes()) {
    if (process.pid == self || process.state == 'Z' || process.start_ticks < since) continue;
    Mark marked = Mark::kYes;
    if (!in_session_of(process, tasks)) marked = mark_of(process, mark);
    if (marked == Mark::kUnclear) ++remains.unclear;
    if (marked != Mark::kYes) continue;
    signal_exactly(process, SIGKILL);
    ++remains.killed;
  }
  return remains;
}

}  // namespace berth::local
