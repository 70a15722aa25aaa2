// Processes of this machine and their identity, which a number alone is not: numbers are used
// again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/fd.h"

namespace berth::local {

// proc(5), /proc/PID/stat.
struct ProcessStat {
  pid_t pid = 0;
  char state = '?';  // 'Z': ended, not reaped
  pid_t parent = 0;
  pid_t session = 0;
  std::uint64_t start_ticks = 0;
};

[[nodiscard]] std::optional<ProcessStat> process_stat(pid_t pid);
// The same from the text of the file; nothing if it is not one.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);
[[nodiscard]] std::vector<ProcessStat> all_processes();

// pidfd_open(2), pidfd_send_signal(2): glibc 2.36 declares them for C alone.
[[nodiscard]] int open_pidfd(pid_t pid);
void signal_pidfd(int pidfd, int signal);
// With a number that the receiver sees.
void signal_pidfd(int pidfd, int signal, int value);

// Nothing: there is no such process.
[[nodiscard]] std::optional<ProcessId> identity_of(pid_t pid);
// A descriptor of exactly this process; none if it has ended, or the number is another's now.
// Readable once the process has ended.
[[nodiscard]] Fd open_process(const ProcessId& id);

// Sends a signal to the process that `stat` was read of, and to no later one of its number.
void signal_exactly(const ProcessStat& stat, int signal);

// Sends SIGKILL to every descendant of `ancestor` that can be seen; returns how many.
std::size_t kill_descendants(pid_t ancestor);

// A task as its supervisor wrote it down when it started it: the leader of a session of its own.
struct TaskProcess {
  std::uint32_t task = 0;
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::vector<std::uint32_t> cpus;  // that it is pinned to
};

// One look for what is left of an attempt whose supervisor is gone: processes that have an
// environment variable beginning with `mark`, or that are in the session of one of `tasks`. They
// get SIGKILL.
struct Remains {
  std::size_t killed = 0;
  // Began no earlier than the first of `tasks` and have no environment: one that is just becoming
  // another program has none either for a moment.
  std::size_t unclear = 0;
};
[[nodiscard]] Remains kill_remains(std::string_view mark, const std::vector<TaskProcess>& tasks);

}  // namespace berth::local
