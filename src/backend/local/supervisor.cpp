#include "backend/local/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "backend/local/attempt_folder.h"
#include "backend/local/log_file.h"
#include "backend/local/process.h"
#include "backend/local/task_group.h"
#include "backend/local/task_start.h"

namespace berth::local {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kPipeBytes = 256 << 10;
// Less than this in one pass over the logs, and they are left alone for a moment: a job that writes
// byte by byte must not keep us awake.
constexpr std::size_t kFewBytes = 16 << 10;
constexpr TimeUs kLogPauseUs = 2'000;
constexpr TimeUs kTellAgainUs = 50'000;
constexpr TimeUs kUsPerMs = 1'000;

TimeUs clock_us(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);
  return TimeUs{now.tv_sec} * kUsPerS + now.tv_nsec / 1000;
}
// The wall clock may jump; nothing is waited for by it.
TimeUs now_us() {
  return clock_us(CLOCK_MONOTONIC);
}

std::string system_text(const char* what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

// One of the output streams of a task.
struct Stream {
  Stream(std::string path, std::int64_t limit_bytes) : log(std::move(path), limit_bytes) {}
  Fd pipe;
  LogFile log;
};

struct Task {
  explicit Task(const LaunchRequest& request, const TaskRequest& task)
      : out(fmt::format("{}/{}.out", request.folder, task.task), request.log_limit_bytes),
        err(fmt::format("{}/{}.err", request.folder, task.task), request.log_limit_bytes) {
    end.task = task.task;
  }
  pid_t pid = -1;
  bool running = false;
  Stream out;
  Stream err;
  TaskGroup group;
  TaskEnd end;
};

enum class Leaving : std::uint8_t { kNo, kAsked, kTermed, kKilled };

class Supervisor {
 public:
  Supervisor(const LaunchRequest& request, int socket) : request_(request), socket_(socket) {}
  [[nodiscard]] SupervisorEnd run();

 private:
  // Before anything runs.
  [[nodiscard]] bool claim();
  [[nodiscard]] Status prepare();
  [[nodiscard]] Status start_tasks();
  [[nodiscard]] Status start_task(std::size_t index, TaskStart& start);
  [[nodiscard]] Status make_progress_file(const TaskRequest& task) const;
  void note_tasks() const;

  // While it runs.
  void loop();
  [[nodiscard]] bool over() const { return running_ == 0 && !notes_; }
  [[nodiscard]] int wait_ms() const;
  void read_signals();
  void read_notes();
  void let_go();
  void reap();
  void ended(Task& task, int status, const rusage& used);
  [[nodiscard]] std::size_t read_logs();
  [[nodiscard]] static std::size_t read_log(Stream& stream);
  void on_time();
  void tell_running();

  // How it ends.
  void leave();
  void kill_tasks();
  void signal_tasks(int signal, bool groups) const;
  void kill_what_is_left();
  [[nodiscard]] bool finish();
  [[nodiscard]] bool write_end(const AttemptEnd& end);
  void refuse(const std::string& why);

  const LaunchRequest& request_;
  int socket_;
  bool to_tell_ = false;  // that all run; not told yet
  Fd claim_;
  EndFile end_file_;
  Fd signals_;
  Fd notes_;  // open until every task runs or has said why not
  Fd go_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::size_t running_ = 0;
  std::size_t ready_ = 0;
  std::string not_started_;  // why; empty: nothing stands in the way
  bool own_fault_ = false;   // of the job
  bool all_run_ = false;
  bool stopped_ = false;  // stop() came while it ran
  bool unkillable_ = false;
  Leaving leaving_ = Leaving::kNo;
  TimeUs leave_deadline_us_ = kNever;
  TimeUs logs_rest_until_us_ = 0;
  TimeUs started_unix_us_ = -1;
  TimeUs started_us_ = 0;
};

void Supervisor::refuse(const std::string& why) {
  (void)send_packet(socket_,
                    encode(Report{.kind = ReportKind::kRefused, .key = request_.key, .why = why}),
                    -1, true);
}

bool Supervisor::claim() {
  const auto self = identity_of(::getpid());
  if (!self) {
    refuse("its supervisor cannot read /proc");
    return false;
  }
  if (auto made = make_folder(request_.folder); !made) {
    refuse(made.error().text());
    return false;
  }
  // Before the claim: without room to say how it ended it is not begun.
  auto end = EndFile::reserve(request_.folder, request_.tasks.size());
  if (!end) {
    refuse(end.error().text());
    return false;
  }
  end_file_ = *std::move(end);
  auto claimed = make_claim(request_.folder, self);
  if (!claimed) refuse(claimed.error().text());
  if (!claimed || !*claimed) {
    end_file_.discard();
    return false;
  }
  claim_ = *std::move(claimed);
  return true;
}

Status Supervisor::make_progress_file(const TaskRequest& task) const {
  const std::string path = fmt::format("{}/{}.progress", request_.folder, task.task);
  const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail(io_error(path, system_text("cannot write")));
  if (request_.user.uid != ::geteuid() &&
      ::fchown(file.get(), request_.user.uid, request_.user.gid) != 0) {
    return fail(io_error(path, system_text("cannot give it to its user")));
  }
  return {};
}

Status Supervisor::prepare() {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int signal : {SIGCHLD, SIGTERM, stop_signal(), kill_signal()}) {
    ::sigaddset(&mask, signal);
  }
  signals_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail(internal_error(system_text("cannot watch signals")));
  for (const TaskRequest& task : request_.tasks) {
    auto& added = tasks_.emplace_back(std::make_unique<Task>(request_, task));
    BERTH_TRY(added->group, TaskGroup::make(request_.groups, request_.key, task));
    BERTH_CHECK_OK(make_progress_file(task));
  }
  return {};
}

Status make_pipe(Fd& read_end, Fd& write_end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(internal_error(system_text("cannot make a pipe")));
  }
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return {};
}

Status make_log_pipe(Fd& read_end, Fd& write_end) {
  BERTH_CHECK_OK(make_pipe(read_end, write_end));
  (void)::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  (void)::fcntl(read_end.get(), F_SETPIPE_SZ, kPipeBytes);  // as it is where we may not
  return {};
}

Status Supervisor::start_task(std::size_t index, TaskStart& start) {
  const TaskRequest& asked = request_.tasks[index];
  Task& task = *tasks_[index];
  Environment own = asked.environment;
  own.emplace_back("BERTH_PROGRESS", fmt::format("{}/{}.progress", request_.folder, asked.task));
  start.index = static_cast<std::uint32_t>(index);
  start.group = &task.group;
  start.variables = task_variables(request_.environment, own);
  start.programs = program_candidates(request_.command[0], start.variables);
  Fd out;
  Fd err;
  BERTH_CHECK_OK(make_log_pipe(task.out.pipe, out));
  BERTH_CHECK_OK(make_log_pipe(task.err.pipe, err));
  start.out_fd = out.get();
  start.err_fd = err.get();
  const pid_t pid = fork_task(start);
  if (pid < 0) return fail(internal_error(system_text("cannot fork")));
  task.pid = pid;
  task.running = true;
  ++running_;
  return {};
}

Status Supervisor::start_tasks() {
  Fd notes;
  Fd go;
  BERTH_CHECK_OK(make_pipe(notes_, notes));
  if (tasks_.size() > 1) BERTH_CHECK_OK(make_pipe(go, go_));
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return fail(io_error("/dev/null", system_text("cannot open")));
  TaskStart start;
  start.request = &request_;
  start.groups = ::geteuid() == 0 && request_.user.uid != 0 ? groups_of(request_.user)
                                                            : std::vector<gid_t>{request_.user.gid};
  start.null_fd = null.get();
  start.notes_fd = notes.get();
  start.go_fd = go.get();
  start.supervisor = ::getpid();
  for (std::size_t i = 0; i < tasks_.size(); ++i) BERTH_CHECK_OK(start_task(i, start));
  return {};
}

// For whoever has to clear up after us.
void Supervisor::note_tasks() const {
  std::string lines;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const auto stat = process_stat(tasks_[i]->pid);
    if (tasks_[i]->pid <= 0 || !stat) continue;
    lines += claim_task_line({.task = request_.tasks[i].task,
                              .pid = stat->pid,
                              .start_ticks = stat->start_ticks,
                              .cpus = request_.tasks[i].limits.cpus});
  }
  (void)write_whole(claim_.get(), lines);
}

SupervisorEnd Supervisor::run() {
  (void)::umask(077);
  (void)::setsid();
  (void)::chdir("/");
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::prctl(PR_SET_NAME, "berth-job");
  if (!claim()) return SupervisorEnd::kUnclean;
  started_unix_us_ = clock_us(CLOCK_REALTIME);
  started_us_ = now_us();
  Status started = prepare();
  if (started) {
    started = start_tasks();
    note_tasks();
  }
  if (!started) {
    not_started_ = started.error().text();
    notes_.reset();
    go_.reset();
    kill_tasks();
  }
  if (signals_) loop();
  return finish() && !unkillable_ ? SupervisorEnd::kClean : SupervisorEnd::kUnclean;
}

void Supervisor::loop() {
  std::vector<pollfd> fds;
  while (!over()) {
    fds.clear();
    fds.push_back({.fd = signals_.get(), .events = POLLIN});
    fds.push_back({.fd = notes_.get(), .events = POLLIN});
    if (now_us() >= logs_rest_until_us_) {
      for (const auto& task : tasks_) {
        for (const Stream* stream : {&task->out, &task->err}) {
          if (stream->pipe) fds.push_back({.fd = stream->pipe.get(), .events = POLLIN});
        }
      }
    }
    const std::size_t watched = fds.size();
    (void)::poll(fds.data(), watched, wait_ms());
    if (fds[0].revents != 0) read_signals();
    if (fds[1].revents != 0) read_notes();
    const bool log =
        std::any_of(fds.begin() + 2, fds.end(), [](const pollfd& one) { return one.revents != 0; });
    if (log && read_logs() < kFewBytes) logs_rest_until_us_ = now_us() + kLogPauseUs;
    on_time();
  }
}

int Supervisor::wait_ms() const {
  const TimeUs now = now_us();
  TimeUs until = leave_deadline_us_;
  if (now < logs_rest_until_us_) until = std::min(until, logs_rest_until_us_);
  if (to_tell_) until = std::min(until, now + kTellAgainUs);
  if (until == kNever) return -1;
  constexpr TimeUs kLongestUs = 3600 * kUsPerS;
  return static_cast<int>((std::clamp(until - now, TimeUs{0}, kLongestUs) + kUsPerMs - 1) /
                          kUsPerMs);
}

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool meant = info.ssi_code == SI_QUEUE && info.ssi_int == stop_token(request_.key);
    const bool stop = signal == SIGTERM || (meant && signal == stop_signal());
    const bool kill = meant && signal == kill_signal();
    if (stop || kill) stopped_ = stopped_ || running_ > 0;
    if (stop) leave();
    if (kill) kill_tasks();
  }
  reap();
}

void Supervisor::read_notes() {
  StartNote note;
  const ssize_t got = ::read(notes_.get(), &note, sizeof(note));
  if (got < 0 && errno == EINTR) return;
  if (got == sizeof(note) && note.index < tasks_.size()) {
    if (note.step == StartStep::kReady) {
      if (++ready_ == tasks_.size()) let_go();
      return;
    }
    if (not_started_.empty()) {
      not_started_ = start_note_text(request_, note);
      own_fault_ = is_fault_of_job(note);
    }
    go_.reset();
    kill_tasks();
    return;
  }
  // The last one has closed it: by exec, or by its end.
  notes_.reset();
  all_run_ = not_started_.empty() && (tasks_.size() == 1 || ready_ == tasks_.size());
  if (!all_run_ && not_started_.empty()) {
    not_started_ = "a task was killed before it began";
    kill_tasks();
  }
  to_tell_ = all_run_;
  tell_running();
}

void Supervisor::let_go() {
  const std::string bytes(tasks_.size(), 'g');
  (void)write_whole(go_.get(), bytes);
  go_.reset();
}

void Supervisor::tell_running() {
  if (!to_tell_) return;
  const Report report{.kind = ReportKind::kRunning, .key = request_.key, .pid = ::getpid()};
  to_tell_ = send_packet(socket_, encode(report), -1, false) == SendResult::kFull;
}

// Children: the tasks, and what they have left behind.
void Supervisor::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const auto task = std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& one) {
      return one->running && one->pid == info.si_pid;
    });
    // As long as its leader is not reaped, nobody else's group can have this number.
    if (task != tasks_.end()) (void)::kill(-info.si_pid, SIGKILL);
    int status = 0;
    rusage used{};
    if (::wait4(info.si_pid, &status, 0, &used) != info.si_pid) return;
    if (task != tasks_.end()) ended(**task, status, used);
  }
}

void Supervisor::ended(Task& task, int status, const rusage& used) {
  constexpr std::int64_t kRssUnit = 1024;
  task.running = false;
  --running_;
  if (WIFEXITED(status)) task.end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) task.end.signal = WTERMSIG(status);
  task.end.max_rss_bytes = used.ru_maxrss * kRssUnit;
  task.end.cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * kUsPerS +
                    used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  // The others would wait for it for ever.
  if (task.end.exit_code != 0) leave();
}

std::size_t Supervisor::read_log(Stream& stream) {
  static std::array<char, kReadBytes> buffer;
  const ssize_t got = ::read(stream.pipe.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    stream.pipe.reset();
    return 0;
  }
  stream.log.write({buffer.data(), static_cast<std::size_t>(got)});
  return static_cast<std::size_t>(got);
}

std::size_t Supervisor::read_logs() {
  std::size_t sum = 0;
  for (const auto& task : tasks_) {
    for (Stream* stream : {&task->out, &task->err}) {
      if (stream->pipe) sum += read_log(*stream);
    }
  }
  return sum;
}

void Supervisor::signal_tasks(int signal, bool groups) const {
  for (const auto& task : tasks_) {
    if (task->running) (void)::kill(groups ? -task->pid : task->pid, signal);
  }
}

void Supervisor::leave() {
  if (leaving_ != Leaving::kNo) return;
  if (request_.checkpoint_signal != 0 && request_.grace_us > 0) {
    leaving_ = Leaving::kAsked;
    leave_deadline_us_ = now_us() + std::min(request_.grace_us, kNever / 2);
    signal_tasks(request_.checkpoint_signal, false);
    return;
  }
  leaving_ = Leaving::kAsked;
  leave_deadline_us_ = now_us();
}

void Supervisor::kill_tasks() {
  leaving_ = Leaving::kKilled;
  leave_deadline_us_ = kNever;
  for (const auto& task : tasks_) {
    if (!task->running) continue;
    task->group.kill();
    // One that was just forked is not a leader yet.
    (void)::kill(-task->pid, SIGKILL);
    (void)::kill(task->pid, SIGKILL);
  }
}

void Supervisor::on_time() {
  tell_running();
  if (now_us() < leave_deadline_us_) return;
  if (leaving_ == Leaving::kAsked) {
    leaving_ = Leaving::kTermed;
    leave_deadline_us_ = now_us() + std::min(request_.term_grace_us, kNever / 2);
    signal_tasks(SIGTERM, true);
    return;
  }
  kill_tasks();
}

// What the tasks have started and not waited for: all of it is our children by now.
void Supervisor::kill_what_is_left() {
  constexpr TimeUs kLongestUs = 20 * kUsPerS;
  constexpr int kPauseMs = 2;
  const TimeUs deadline = now_us() + kLongestUs;
  for (const auto& task : tasks_) task->group.kill();
  for (;;) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped > 0) continue;
    if (reaped < 0 && errno == ECHILD) return;
    if (now_us() > deadline) break;
    (void)kill_descendants(::getpid());
    (void)::poll(nullptr, 0, kPauseMs);
  }
  unkillable_ = true;
}

bool Supervisor::finish() {
  kill_what_is_left();
  // Nobody of ours writes any more; whoever else holds a pipe open is not waited for.
  constexpr int kMostReads = 64;
  for (int i = 0; i < kMostReads && read_logs() > 0; ++i) {
  }
  AttemptEnd end;
  for (const auto& task : tasks_) {
    task->out.log.finish();
    task->err.log.finish();
    task->end.out_of_memory = task->group.out_of_memory();
    task->group.remove();
    end.tasks.push_back(task->end);
  }
  if (!not_started_.empty()) {
    end.kind = AttemptEndKind::kNotStarted;
    end.own_fault = own_fault_;
    end.why = not_started_;
    end.tasks.clear();
  } else {
    end.kind = stopped_ ? AttemptEndKind::kStopped : AttemptEndKind::kExited;
    if (unkillable_) end.why = "some of its processes could not be killed";
    end.started_unix_us = started_unix_us_;
  }
  end.ended_unix_us = started_unix_us_ + (now_us() - started_us_);
  return write_end(end);
}

bool Supervisor::write_end(const AttemptEnd& end) {
  constexpr int kTries = 600;
  constexpr int kPauseMs = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (end_file_.write(end)) return true;
    (void)::poll(nullptr, 0, kPauseMs);
  }
  return false;
}

}  // namespace

int stop_signal() {
  return SIGRTMIN + 1;
}
int kill_signal() {
  return SIGRTMIN + 2;
}
int stop_token(std::string_view key) {
  // FNV-1a, 31 bits of it.
  std::uint32_t hash = 2166136261U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<int>(hash >> 1);
}

SupervisorEnd run_supervisor(const LaunchRequest& request, int socket) {
  if (request.tasks.empty() || request.command.empty()) return SupervisorEnd::kUnclean;
  return Supervisor(request, socket).run();
}

}  // namespace berth::local
