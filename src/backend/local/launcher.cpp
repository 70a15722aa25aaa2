#include "backend/local/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "backend/local/process.h"
#include "backend/local/supervisor.h"
#include "backend/local/wire.h"

namespace berth::local {
namespace {

constexpr const char* kHiddenCommand = "__launcher";
constexpr int kSocketFd = 3;

[[noreturn]] void supervise(Packet& packet, int socket) {
  Fd own(socket);
  const auto request = request_of(packet);
  packet = {};
  ::_exit(request ? run_supervisor(*request, std::move(own)) : 1);
}

// `packet` stays the caller's: its room is used for the next one.
void serve(int socket, Packet& packet) {
  const pid_t pid = ::fork();
  if (pid == 0) supervise(packet, socket);
  const std::string key = request_key(packet);
  if (pid < 0) {
    const std::string why = fmt::format("cannot fork: {}", std::strerror(errno));
    (void)send_packet(socket, encode(Report{.kind = ReportKind::kRefused, .key = key, .why = why}),
                      -1, true);
    return;
  }
  // Not reaped yet: the number is still its own.
  const Fd process(open_pidfd(pid));
  const auto stat = process_stat(pid);
  const Report report{.kind = ReportKind::kForked,
                      .key = key,
                      .pid = pid,
                      .start_ticks = stat ? stat->start_ticks : 0};
  (void)send_packet(socket, encode(report), process.get(), true);
}

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::optional<int> run_if_launcher(int argc, char** argv) {
  constexpr int kArguments = 2;
  if (argc != kArguments || std::string_view(argv[1]) != kHiddenCommand) return std::nullopt;
  return run_launcher(kSocketFd);
}

int run_launcher(int socket) {
  (void)::prctl(PR_SET_NAME, "berth-launcher");
  sigset_t all;
  ::sigfillset(&all);
  (void)::sigprocmask(SIG_SETMASK, &all, nullptr);
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const Fd signals(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return 1;
  Packet packet;
  for (;;) {
    std::array<pollfd, 2> fds = {{{.fd = socket, .events = POLLIN, .revents = 0},
                                  {.fd = signals.get(), .events = POLLIN, .revents = 0}}};
    (void)::poll(fds.data(), fds.size(), -1);
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof(info)) > 0) reap();
    if (fds[0].revents == 0) continue;
    switch (receive_packet(socket, packet)) {
      case ReceiveResult::kReceived:
        serve(socket, packet);
        break;
      case ReceiveResult::kEmpty:
        break;
      case ReceiveResult::kClosed:
        return 0;
    }
  }
}

Result<LauncherProcess> spawn_launcher(const std::string& executable) {
  const auto error = [&](const char* what, int number) {
    return fail(io_error(executable, fmt::format("{}: {}", what, std::strerror(number))));
  };
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return error("cannot make sockets for the launcher", errno);
  }
  LauncherProcess launcher;
  launcher.socket.reset(ends[0]);
  const Fd theirs(ends[1]);
  constexpr int kBufferBytes = 4 << 20;  // as much of it as the system allows
  for (const int end : ends) {
    (void)::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof(kBufferBytes));
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  (void)::posix_spawn_file_actions_init(&actions);
  (void)::posix_spawnattr_init(&attributes);
  // Above the number that it becomes: descriptors may be moved onto themselves only with care.
  const Fd high(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kSocketFd + 1));
  (void)::posix_spawn_file_actions_adddup2(&actions, high.get(), kSocketFd);
  (void)::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  (void)::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  (void)::posix_spawn_file_actions_addclosefrom_np(&actions, kSocketFd + 1);
  // A session of its own: Ctrl-C in the daemon's terminal is not for it.
  (void)::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string name = "berth";
  std::string command = kHiddenCommand;
  const std::array<char*, 3> arguments = {name.data(), command.data(), nullptr};
  // Symbols are looked up once, by the launcher, and not by each of its children anew.
  std::string bind_now = "LD_BIND_NOW=1";
  std::vector<char*> variables = {bind_now.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  const int failed = ::posix_spawn(&launcher.pid, executable.c_str(), &actions, &attributes,
                                   arguments.data(), variables.data());
  (void)::posix_spawn_file_actions_destroy(&actions);
  (void)::posix_spawnattr_destroy(&attributes);
  if (failed != 0) return error("cannot start the launcher", failed);
  launcher.pidfd.reset(open_pidfd(launcher.pid));
  if (!launcher.pidfd) {
    const int why = errno;
    (void)::kill(launcher.pid, SIGKILL);
    (void)::waitpid(launcher.pid, nullptr, 0);
    return error("cannot watch the launcher", why);
  }
  return launcher;
}

}  // namespace berth::local
