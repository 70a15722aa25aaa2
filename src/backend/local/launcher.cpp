#include "backend/local/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "backend/local/process.h"
#include "backend/local/supervisor.h"
#include "backend/local/wire.h"

namespace berth::local {
namespace {

constexpr const char* kHiddenCommand = "__launcher";
constexpr int kSocketFd = 3;

// In a child of the launcher. `daemon`: for reports; `orders`: further requests come from there,
// and its end is ours.
[[noreturn]] void supervise(Packet& packet, int daemon, int orders) {
  constexpr int kMostAttempts = 1000;  // so that nothing can pile up
  for (int i = 0; i < kMostAttempts; ++i) {
    const auto request = request_of(packet);
    packet.fd.reset();
    if (!request || run_supervisor(*request, daemon) != SupervisorEnd::kClean) break;
    // Nobody there to be told: whoever comes to it then watches this process.
    const Report ended{.kind = ReportKind::kEnded, .key = request->key, .pid = ::getpid()};
    if (send_packet(daemon, encode(ended), -1, true) != SendResult::kSent) break;
    if (send_packet(orders, "idle", -1, true) != SendResult::kSent) break;
    pollfd one{.fd = orders, .events = POLLIN, .revents = 0};
    while (::poll(&one, 1, -1) < 0 && errno == EINTR) {
    }
    if (receive_packet(orders, packet) != ReceiveResult::kReceived) break;
  }
  ::_exit(0);
}

// A child, as the launcher sees it.
struct Worker {
  pid_t pid = -1;
  std::uint64_t start_ticks = 0;
  Fd process;
  Fd orders;
};

class Launcher {
 public:
  explicit Launcher(int socket) : socket_(socket) {}
  [[nodiscard]] int run();

 private:
  static constexpr std::uint64_t kSocket = 0;
  static constexpr std::uint64_t kSignals = 1;
  static constexpr std::uint64_t kFirstWorker = 2;
  static constexpr std::size_t kMostIdle = 16;

  [[nodiscard]] bool watch(int fd, std::uint64_t number) const;
  [[nodiscard]] bool serve_daemon();
  void serve(Packet& packet);
  [[nodiscard]] bool give_to_idle(const Packet& packet);
  void fork_for(Packet& packet);
  void serve_worker(std::uint64_t number);
  void report(ReportKind kind, const std::string& key, const Worker& worker,
              const std::string& why) const;

  int socket_;
  Fd epoll_;
  Fd signals_;
  std::map<std::uint64_t, Worker> workers_;
  std::vector<std::uint64_t> idle_;
  std::uint64_t next_worker_ = kFirstWorker;
};

bool Launcher::watch(int fd, std::uint64_t number) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Launcher::report(ReportKind kind, const std::string& key, const Worker& worker,
                      const std::string& why) const {
  const Report report{
      .kind = kind, .key = key, .pid = worker.pid, .start_ticks = worker.start_ticks, .why = why};
  (void)send_packet(socket_, encode(report), worker.process.get(), true);
}

bool Launcher::give_to_idle(const Packet& packet) {
  while (!idle_.empty()) {
    const auto found = workers_.find(idle_.back());
    idle_.pop_back();
    if (found == workers_.end()) continue;
    const Worker& worker = found->second;
    if (send_packet(worker.orders.get(), packet.bytes, packet.fd.get(), false) !=
        SendResult::kSent) {
      continue;  // it is gone
    }
    report(ReportKind::kForked, request_key(packet), worker, {});
    return true;
  }
  return false;
}

void Launcher::fork_for(Packet& packet) {
  const std::string key = request_key(packet);
  std::array<int, 2> ends{};
  const bool paired = ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0;
  Fd ours(paired ? ends[0] : -1);
  const Fd theirs(paired ? ends[1] : -1);
  const pid_t pid = paired ? ::fork() : -1;
  if (pid == 0) {
    // Of the other workers' sockets as well: they must see when the launcher ends.
    workers_.clear();
    ours.reset();
    signals_.reset();
    epoll_.reset();
    supervise(packet, socket_, theirs.get());
  }
  if (pid < 0) {
    return report(ReportKind::kRefused, key, {},
                  fmt::format("cannot fork: {}", std::strerror(errno)));
  }
  // Not reaped yet: the number is still its own.
  const auto stat = process_stat(pid);
  Worker worker{.pid = pid,
                .start_ticks = stat ? stat->start_ticks : 0,
                .process = Fd(open_pidfd(pid)),
                .orders = std::move(ours)};
  report(ReportKind::kForked, key, worker, {});
  const std::uint64_t number = next_worker_++;
  // One that cannot be watched ends after its attempt.
  if (watch(worker.orders.get(), number)) workers_.emplace(number, std::move(worker));
}

void Launcher::serve(Packet& packet) {
  if (!give_to_idle(packet)) fork_for(packet);
}

bool Launcher::serve_daemon() {
  Packet packet;
  switch (receive_packet(socket_, packet)) {
    case ReceiveResult::kReceived:
      serve(packet);
      return true;
    case ReceiveResult::kEmpty:
      return true;
    case ReceiveResult::kClosed:
      break;
  }
  return false;
}

void Launcher::serve_worker(std::uint64_t number) {
  const auto found = workers_.find(number);
  if (found == workers_.end()) return;
  Packet packet;
  const ReceiveResult result = receive_packet(found->second.orders.get(), packet);
  if (result == ReceiveResult::kEmpty) return;
  if (result == ReceiveResult::kReceived && idle_.size() < kMostIdle) {
    idle_.push_back(number);
  } else {
    workers_.erase(found);  // closes its orders: it ends, if it has not
  }
}

int Launcher::run() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!signals_ || !epoll_ || !watch(socket_, kSocket) || !watch(signals_.get(), kSignals)) {
    return 1;
  }
  for (;;) {
    constexpr int kMost = 64;
    std::array<epoll_event, kMost> events{};
    const int count = ::epoll_wait(epoll_.get(), events.data(), kMost, -1);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == kSignals) {
        signalfd_siginfo info{};
        (void)!::read(signals_.get(), &info, sizeof(info));
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
      } else if (number >= kFirstWorker) {
        serve_worker(number);
      } else if (!serve_daemon()) {
        return 0;
      }
    }
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
  return Launcher(socket).run();
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
