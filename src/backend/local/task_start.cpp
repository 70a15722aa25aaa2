#include "backend/local/task_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace berth::local {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";
constexpr int kNotStartedExit = 127;

// AddressSanitizer takes a stack that it does not know for an overflow.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMaySharePages = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kMaySharePages = false;
#else
constexpr bool kMaySharePages = true;
#endif
#else
constexpr bool kMaySharePages = true;
#endif

[[noreturn]] void give_up(const TaskStart& start, StartStep step) {
  const StartNote note{.index = start.index, .step = step, .error = errno};
  (void)!::write(start.notes_fd, &note, sizeof(note));
  ::_exit(kNotStartedExit);
}

bool pin(const std::vector<std::uint32_t>& cpus) {
  if (cpus.empty()) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  }
  return ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

bool restore_limits(std::uint64_t open_files) {
  if (open_files == 0) return true;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = std::min<rlim_t>(open_files, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool become_user(const Credentials& user, const std::vector<gid_t>& groups) {
  if (::geteuid() != 0) return ::geteuid() == user.uid;
  return ::setgroups(groups.size(), groups.data()) == 0 &&
         ::setresgid(user.gid, user.gid, user.gid) == 0 &&
         ::setresuid(user.uid, user.uid, user.uid) == 0;
}

bool set_streams(const TaskStart& start) {
  return ::dup2(start.null_fd, STDIN_FILENO) >= 0 && ::dup2(start.out_fd, STDOUT_FILENO) >= 0 &&
         ::dup2(start.err_fd, STDERR_FILENO) >= 0;
}

// The first candidate that can be run. If there is none: of what stands in the way, the most
// telling.
const char* find_program(const std::vector<std::string>& candidates) {
  int why = ENOENT;
  for (const std::string& candidate : candidates) {
    struct stat info {};
    if (::stat(candidate.c_str(), &info) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) why = errno;
    } else if (S_ISDIR(info.st_mode)) {
      why = EISDIR;
    } else if (::access(candidate.c_str(), X_OK) != 0) {
      why = errno;
    } else {
      return candidate.c_str();
    }
  }
  errno = why;
  return nullptr;
}

// As a process has them that nobody prepared: what a program sets to "ignore" stays so over exec.
void reset_signals() {
  // By the system call: the library keeps two signals to itself, which may be ignored all the same.
  // All zero is the kernel's "default" (handler, flags, restorer, mask).
  constexpr std::size_t kMaskBytes = 8;
  const std::array<std::uint64_t, 8> by_default{};
  for (int signal = 1; signal < NSIG; ++signal) {
    (void)::syscall(SYS_rt_sigaction, signal, by_default.data(), nullptr, kMaskBytes);
  }
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  // execve() takes what it only reads as not const.
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

void wait_for_go(const TaskStart& start) {
  if (start.go_fd < 0) return;
  const StartNote ready{.index = start.index};
  (void)!::write(start.notes_fd, &ready, sizeof(ready));
  char byte = 0;
  ssize_t got = -1;
  do {
    got = ::read(start.go_fd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(kNotStartedExit);  // not to be, or the supervisor is gone
}

// In the child. It may share the supervisor's memory: whatever it allocates is never freed.
[[noreturn]] void become_task(const TaskStart& start) {
  const LaunchRequest& request = *start.request;
  const TaskRequest& task = request.tasks[start.index];
  if (::setsid() < 0 || !set_streams(start)) give_up(start, StartStep::kLimits);
  if (!start.group->join() || !pin(task.limits.cpus) || !restore_limits(request.open_files)) {
    give_up(start, StartStep::kLimits);
  }
  if (!become_user(request.user, start.groups)) give_up(start, StartStep::kUser);
  // After the change of user, which would take it away.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(start, StartStep::kUser);
  if (::getppid() != start.supervisor) ::_exit(kNotStartedExit);
  if (::chdir(request.directory.c_str()) != 0) give_up(start, StartStep::kDirectory);
  const char* const program = find_program(start.programs);
  if (program == nullptr) give_up(start, StartStep::kProgram);
  const auto arguments = pointers(request.command);
  const auto variables = pointers(start.variables);
  wait_for_go(start);
  reset_signals();
  (void)::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(program, arguments.data(), variables.data());
  give_up(start, StartStep::kProgram);
}

int become_task_main(void* start) {
  become_task(*static_cast<const TaskStart*>(start));
}

}  // namespace

pid_t fork_task(const TaskStart& start) {
  if (start.go_fd >= 0 || !kMaySharePages) {
    const pid_t pid = ::fork();
    if (pid == 0) become_task(start);
    return pid;
  }
  constexpr std::size_t kStackBytes = 256 << 10;
  static std::array<char, kStackBytes> stack;
  // It only reads what it is given.
  return ::clone(become_task_main, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD,
                 const_cast<TaskStart*>(&start));
}

std::vector<std::string> task_variables(const Environment& attempt, const Environment& task) {
  Environment all = attempt;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[attempt[i].first] = i;
  for (const auto& variable : task) {
    const auto [at, fresh] = place.emplace(variable.first, all.size());
    if (fresh) {
      all.push_back(variable);
    } else {
      all[at->second].second = variable.second;
    }
  }
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, value] : all) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

std::vector<std::string> program_candidates(const std::string& program,
                                            const std::vector<std::string>& variables) {
  if (program.find('/') != std::string::npos) return {program};
  std::string_view path = kDefaultPath;
  for (const std::string_view variable : variables) {
    constexpr std::string_view kName = "PATH=";
    if (variable.starts_with(kName)) path = variable.substr(kName.size());
  }
  std::vector<std::string> out;
  for (const std::string_view folder : split(path, ':')) {
    out.push_back(folder.empty() ? "./" + program : fmt::format("{}/{}", folder, program));
  }
  return out;
}

std::vector<gid_t> groups_of(const Credentials& user) {
  constexpr std::size_t kTextBytes = 1 << 16;
  constexpr int kMostGroups = 1024;
  std::vector<char> text(kTextBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user.uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return {user.gid};
  }
  std::vector<gid_t> groups(kMostGroups);
  int number = kMostGroups;
  if (::getgrouplist(entry.pw_name, user.gid, groups.data(), &number) < 0) return {user.gid};
  groups.resize(static_cast<std::size_t>(number));
  return groups;
}

std::string start_note_text(const LaunchRequest& request, const StartNote& note) {
  const std::string where =
      request.tasks.size() > 1 ? fmt::format("task {}: ", request.tasks[note.index].task) : "";
  const std::string why = std::strerror(note.error);
  const std::string program = printable(request.command[0]);
  switch (note.step) {
    case StartStep::kReady:
      break;
    case StartStep::kLimits:
      return fmt::format("{}cannot set up its limits and streams: {}", where, why);
    case StartStep::kUser:
      return fmt::format("{}cannot run as user {}: {}", where, request.user.uid, why);
    case StartStep::kDirectory:
      return fmt::format("{}cannot enter the directory '{}' as user {}: {}", where,
                         printable(request.directory, 400), request.user.uid, why);
    case StartStep::kProgram:
      if (note.error == ENOEXEC) {
        return fmt::format(
            "{}cannot start '{}': not a program; a script needs a first line such "
            "as #!/bin/sh",
            where, program);
      }
      if (note.error == E2BIG) {
        return fmt::format(
            "{}cannot start '{}': its arguments and environment are larger than "
            "the system takes",
            where, program);
      }
      return fmt::format("{}cannot start '{}': {}", where, program, why);
  }
  return where + why;
}

bool is_fault_of_job(const StartNote& note) {
  if (note.step != StartStep::kUser && note.step != StartStep::kDirectory &&
      note.step != StartStep::kProgram) {
    return false;
  }
  constexpr std::array kForEver = {ENOENT, ENOTDIR, EACCES, EPERM,   ENOEXEC,     E2BIG,
                                   EISDIR, ELOOP,   EINVAL, ELIBBAD, ENAMETOOLONG};
  return std::find(kForEver.begin(), kForEver.end(), note.error) != kForEver.end();
}

}  // namespace berth::local
