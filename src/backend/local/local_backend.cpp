#include "backend/local/local_backend.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <utility>

#include "backend/local/attempt.h"
#include "backend/local/devices.h"
#include "backend/local/event_loop.h"
#include "backend/local/launcher.h"
#include "backend/local/limits.h"
#include "backend/local/supervisor.h"
#include "backend/local/task_group.h"
#include "base/boot_id.h"
#include "base/fingerprint.h"

namespace berth {
namespace local {
namespace {

constexpr std::uint64_t kSocketWatch = 1;
constexpr std::uint64_t kLauncherWatch = 2;
constexpr std::uint64_t kFirstAttemptWatch = 16;
constexpr TimeUs kLauncherPauseUs = kUsPerS;    // between two starts of one that keeps dying
constexpr TimeUs kUnclearPauseUs = kUsPerS;     // between two tries to read or write a folder
constexpr TimeUs kClearPauseUs = kUsPerS / 50;  // between two looks for what is left
constexpr std::size_t kMaxFolderFileBytes = 8 << 20;

// What poll() has to tell.
struct Told {
  std::string key;
  std::optional<ProcessId> started;
  std::optional<AttemptEnd> ended;
};

class ProcessBackend final : public LocalBackend {
 public:
  explicit ProcessBackend(LocalOptions options) : options_(std::move(options)) {}
  ~ProcessBackend() override;
  [[nodiscard]] Status open();

  [[nodiscard]] const Cluster& cluster() const override { return *options_.cluster; }
  [[nodiscard]] std::vector<bool> usable_devices() const override { return devices_->usable(); }
  [[nodiscard]] Status start(const AttemptLaunch& launch) override;
  void stop(const std::string& key, bool now) override;
  void adopt(const std::string& key, const std::optional<ProcessId>& supervisor) override;
  void forget(const std::string& key) override;
  [[nodiscard]] int event_fd() const override { return loop_->fd(); }
  void poll(const BackendEvents& events) override;
  [[nodiscard]] std::string folder(const std::string& key) const override {
    return attempts_folder_ + "/" + key;
  }
  [[nodiscard]] std::vector<std::string> limits() const override { return limits_.describe(); }

 private:
  [[nodiscard]] Status open_folder();
  void open_devices();
  [[nodiscard]] LaunchRequest request_of(const AttemptLaunch& launch, Attempt& attempt);

  // The launcher.
  [[nodiscard]] Status start_launcher();
  void launcher_died();
  void send_queue();
  void read_reports();
  [[nodiscard]] bool read_reports(int socket);
  void report(Report&& report, Fd process);

  // Attempts.
  void watch(Attempt& attempt, Fd process);
  void send_stop(const Attempt& attempt) const;
  void settle(const std::string& key, const std::string& why_not_started);
  [[nodiscard]] bool settle_by_end(Attempt& attempt);
  void settle_by_claim(Attempt& attempt);
  void clear(Attempt& attempt);
  void tell_started(Attempt& attempt);
  void finish(Attempt& attempt, AttemptEnd end);
  void finish_not_started(Attempt& attempt, const std::string& why);

  void on_time(const BackendEvents& events);
  void arm_timer();
  [[nodiscard]] bool ours(std::int32_t pid) const;

  LocalOptions options_;
  std::string attempts_folder_;
  std::optional<EventLoop> loop_;
  std::optional<Devices> devices_;
  Limits limits_;
  std::uint64_t open_files_ = 0;

  LauncherProcess launcher_;
  std::vector<Fd> old_sockets_;  // of launchers that died
  TimeUs launcher_at_us_ = 0;    // not started again before
  std::deque<std::string> queue_;
  bool waits_for_writing_ = false;

  std::map<std::string, Attempt> attempts_;
  std::map<std::uint64_t, std::string> watches_;
  std::uint64_t next_watch_ = kFirstAttemptWatch;
  std::vector<Told> told_;
  TimeUs unclear_at_us_ = kNever;
  TimeUs clear_at_us_ = kNever;
  TimeUs devices_at_us_ = kNever;
};

// --- opening ---

Status ProcessBackend::open_folder() {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(options_.data_folder, error);
  if (error) return fail(io_error(options_.data_folder, error.message()));
  attempts_folder_ = absolute.lexically_normal().string();
  while (attempts_folder_.size() > 1 && attempts_folder_.back() == '/') attempts_folder_.pop_back();
  attempts_folder_ += "/attempts";
  return make_folder(attempts_folder_);
}

void ProcessBackend::open_devices() {
  std::optional<Nvml> nvml;
  std::vector<GpuDescription> gpus;
  if (!options_.nvml.empty()) {
    // Without a driver there are no GPUs: that is no error.
    if (auto opened = Nvml::open(options_.nvml)) {
      if (auto found = opened->devices()) {
        gpus = *std::move(found);
        nvml = *std::move(opened);
      }
    }
  }
  if (!options_.cluster) options_.cluster = describe_machine(gpus);
  devices_.emplace(options_.cluster->devices.size(), std::move(gpus), std::move(nvml));
  if (devices_->watched()) {
    (void)devices_->look([this](std::int32_t pid) { return ours(pid); });
    devices_at_us_ = EventLoop::now_us() + options_.device_poll_us;
  }
}

Status ProcessBackend::open() {
  BERTH_CHECK_OK(open_folder());
  BERTH_TRY(loop_, EventLoop::make());
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    open_files_ = files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  }
  Fingerprint folder_print;
  folder_print.add(attempts_folder_);
  limits_ = Limits::probe("berth-" + folder_print.hex(), options_.limits, own_group_mounts());
  open_devices();
  return start_launcher();
}

ProcessBackend::~ProcessBackend() {
  // It ends when its socket is closed; what it was asked for before that is started still.
  launcher_.socket.reset();
  if (launcher_.pid > 0) (void)::waitpid(launcher_.pid, nullptr, 0);
  // Where jobs run on, their groups are in it, and it stays.
  for (const auto* group :
       {&limits_.folders().unified, &limits_.folders().cpu, &limits_.folders().memory}) {
    if (!group->empty()) (void)::rmdir(group->c_str());
  }
}

// --- the launcher ---

Status ProcessBackend::start_launcher() {
  BERTH_TRY(launcher_, spawn_launcher(options_.executable));
  launcher_at_us_ = EventLoop::now_us() + kLauncherPauseUs;
  waits_for_writing_ = false;
  if (!loop_->watch(launcher_.socket.get(), kSocketWatch) ||
      !loop_->watch(launcher_.pidfd.get(), kLauncherWatch)) {
    return fail(internal_error("cannot watch the launcher"));
  }
  return {};
}

// What it was asked for and did not say: a supervisor of it has the claim, or nobody ever will.
void ProcessBackend::launcher_died() {
  read_reports();
  (void)::waitpid(launcher_.pid, nullptr, 0);
  // Its supervisors may have something to tell still.
  if (launcher_.socket) old_sockets_.push_back(std::move(launcher_.socket));
  launcher_ = {};
  std::vector<std::string> sent;
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.state == AttemptState::kSent) sent.push_back(key);
  }
  for (const std::string& key : sent) settle(key, "the launcher was killed before it began");
}

void ProcessBackend::send_queue() {
  if (!launcher_.socket) {
    if (EventLoop::now_us() < launcher_at_us_) return;
    if (!start_launcher()) {
      launcher_at_us_ = EventLoop::now_us() + kLauncherPauseUs;
      return;
    }
  }
  bool full = false;
  while (!queue_.empty() && !full) {
    const auto found = attempts_.find(queue_.front());
    if (found == attempts_.end() || found->second.state != AttemptState::kQueued) {
      queue_.pop_front();
      continue;
    }
    Attempt& attempt = found->second;
    if (send_request(launcher_.socket.get(), attempt.key, attempt.request) == SendResult::kSent) {
      attempt.state = AttemptState::kSent;
      attempt.request = {};
      queue_.pop_front();
    } else {
      full = true;  // or closed: its end is told by its pidfd
    }
  }
  if (full != waits_for_writing_) {
    waits_for_writing_ = full;
    loop_->watch_writing(launcher_.socket.get(), kSocketWatch, full);
  }
}

void ProcessBackend::read_reports() {
  if (launcher_.socket) (void)read_reports(launcher_.socket.get());
  std::erase_if(old_sockets_, [this](const Fd& socket) { return !read_reports(socket.get()); });
}

// False: nobody has its other end any more.
bool ProcessBackend::read_reports(int socket) {
  Packet packet;
  for (;;) {
    const ReceiveResult result = receive_packet(socket, packet);
    if (result != ReceiveResult::kReceived) return result == ReceiveResult::kEmpty;
    if (auto told = decode_report(packet.bytes)) report(*std::move(told), std::move(packet.fd));
  }
}

void ProcessBackend::report(Report&& report, Fd process) {
  const auto found = attempts_.find(report.key);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  switch (report.kind) {
    case ReportKind::kForked:
      if (attempt.state != AttemptState::kSent) return;
      attempt.supervisor =
          ProcessId{.pid = report.pid, .start_ticks = report.start_ticks, .boot_id = boot_id()};
      if (!process) process = open_process(*attempt.supervisor);
      if (!process) return settle(report.key, "its supervisor was killed before it began");
      return watch(attempt, std::move(process));
    case ReportKind::kRefused:
      return finish_not_started(attempt, report.why);
    case ReportKind::kRunning:
      attempt.runs = true;
      return tell_started(attempt);
    case ReportKind::kEnded:
      // It is kClean, and may be at another attempt by now: there is nothing to wait for.
      if (settle_by_end(attempt)) return;
      return finish(attempt, {.kind = AttemptEndKind::kLost,
                              .why = "what was written down of its end was removed"});
  }
}

// --- attempts ---

LaunchRequest ProcessBackend::request_of(const AttemptLaunch& launch, Attempt& attempt) {
  LaunchRequest request;
  request.key = launch.key;
  request.folder = folder(launch.key);
  request.user = launch.user;
  request.command = launch.command;
  request.directory = launch.directory;
  request.environment = launch.environment;
  request.checkpoint_signal = launch.checkpoint_signal;
  request.grace_us = launch.grace_us;
  request.term_grace_us = launch.term_grace_us;
  request.log_limit_bytes = launch.log_limit_bytes;
  request.open_files = open_files_;
  request.groups = limits_.folders();
  for (const TaskLaunch& task : launch.tasks) {
    TaskRequest asked{.task = task.task, .environment = task.environment, .limits = {}};
    // Whatever the job says: the devices that it does not have are others'.
    asked.environment.emplace_back("CUDA_VISIBLE_DEVICES",
                                   devices_->visible(task.devices, cluster()));
    asked.limits = limits_.take(task.cpu_milli, task.memory_mib);
    attempt.pins.push_back(asked.limits.cpus);
    request.tasks.push_back(std::move(asked));
  }
  return request;
}

Status ProcessBackend::start(const AttemptLaunch& launch) {
  BERTH_CHECK_OK(check_launch(launch, cluster(), options_.allow_root));
  if (attempts_.contains(launch.key)) {
    return fail(internal_error("an attempt of this key runs already"));
  }
  BERTH_CHECK_OK(make_folder(attempts_folder_));  // somebody may have taken it away
  Attempt& attempt = attempts_[launch.key];
  attempt.key = launch.key;
  attempt.request = encode(request_of(launch, attempt));
  queue_.push_back(launch.key);
  send_queue();
  arm_timer();
  return {};
}

void ProcessBackend::send_stop(const Attempt& attempt) const {
  if (attempt.stop == StopWish::kNone || !attempt.process) return;
  signal_pidfd(attempt.process.get(),
               attempt.stop == StopWish::kNow ? kill_signal() : stop_signal(),
               stop_token(attempt.key));
}

void ProcessBackend::stop(const std::string& key, bool now) {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  const StopWish wish = now ? StopWish::kNow : StopWish::kGently;
  if (wish <= attempt.stop) return;
  attempt.stop = wish;
  if (attempt.state == AttemptState::kQueued) {
    finish_not_started(attempt, "stopped before it began");
    arm_timer();
    return;
  }
  send_stop(attempt);
}

void ProcessBackend::adopt(const std::string& key, const std::optional<ProcessId>& supervisor) {
  if (!is_attempt_key(key) || attempts_.contains(key)) return;
  Attempt& attempt = attempts_[key];
  attempt.key = key;
  attempt.state = AttemptState::kUnclear;
  attempt.supervisor = supervisor;
  settle(key, "the scheduler was ended before it began");
  arm_timer();
}

void ProcessBackend::watch(Attempt& attempt, Fd process) {
  attempt.watch = next_watch_++;
  attempt.process = std::move(process);
  attempt.state = AttemptState::kWatched;
  watches_[attempt.watch] = attempt.key;
  if (!loop_->watch(attempt.process.get(), attempt.watch)) {
    // Cannot be but for want of memory: looked at by the clock then.
    attempt.state = AttemptState::kUnclear;
    unclear_at_us_ = EventLoop::now_us() + kUnclearPauseUs;
  }
  tell_started(attempt);
  send_stop(attempt);
}

// What became of an attempt of which nobody is known to look after it.
void ProcessBackend::settle(const std::string& key, const std::string& why_not_started) {
  Attempt& attempt = attempts_.at(key);
  watches_.erase(attempt.watch);
  attempt.process.reset();
  if (settle_by_end(attempt)) return;
  Result<Fd> claim = Fd();
  if (auto made = make_folder(folder(key)); !made) {
    claim = fail(std::move(made).error());
  } else {
    claim = make_claim(folder(key), std::nullopt);
  }
  if (!claim) {
    attempt.state = AttemptState::kUnclear;
    unclear_at_us_ = EventLoop::now_us() + kUnclearPauseUs;
    return;
  }
  if (!*claim) return settle_by_claim(attempt);
  // The folder was removed while it ran: it is not true then that it never began.
  if (!attempt.supervisor) return finish_not_started(attempt, why_not_started);
  Fd process = open_process(*attempt.supervisor);
  if (process) {
    attempt.runs = true;
    return watch(attempt, std::move(process));
  }
  if (attempt.runs || attempt.told_started) return clear(attempt);
  finish_not_started(attempt, why_not_started);
}

bool ProcessBackend::settle_by_end(Attempt& attempt) {
  const std::string file = folder(attempt.key) + "/" + kEndFile;
  const auto text = read_file(file, kMaxFolderFileBytes);
  if (!text) return false;
  auto end = parse_end(*text, file);
  if (!end) {
    // Nothing of it runs any more: this file is written last.
    finish(attempt, {.kind = AttemptEndKind::kLost, .why = end.error().text()});
    return true;
  }
  const bool ran = end->kind == AttemptEndKind::kExited || end->kind == AttemptEndKind::kStopped;
  if (ran) attempt.runs = true;
  if (attempt.runs) tell_started(attempt);
  finish(attempt, *std::move(end));
  return true;
}

void ProcessBackend::settle_by_claim(Attempt& attempt) {
  const auto text = read_file(folder(attempt.key) + "/" + kClaimFile, kMaxFolderFileBytes);
  const auto claim = text ? parse_claim(*text) : std::nullopt;
  if (claim && !claim->supervisor && !attempt.runs) {
    return finish_not_started(attempt, "it was settled before that it does not start");
  }
  if (claim && claim->supervisor) {
    attempt.supervisor = claim->supervisor;
    attempt.tasks = claim->tasks;
  }
  if (attempt.supervisor) {
    if (Fd process = open_process(*attempt.supervisor)) {
      attempt.runs = true;  // or will in a moment; it tells somebody else
      if (attempt.pins.empty()) {
        for (const TaskProcess& task : attempt.tasks) {
          limits_.take(task.cpus);
          attempt.pins.push_back(task.cpus);
        }
      }
      return watch(attempt, std::move(process));
    }
  }
  // Perhaps it has ended just now.
  if (!settle_by_end(attempt)) clear(attempt);
}

// One look is not enough: a process may be missed while it becomes another program.
bool all_quiet(const Remains& remains, Attempt& attempt) {
  constexpr int kLooks = 2;
  constexpr int kLooksIfUnclear = 25;
  attempt.quiet_looks = remains.killed > 0 ? 0 : attempt.quiet_looks + 1;
  return attempt.quiet_looks >= (remains.unclear > 0 ? kLooksIfUnclear : kLooks);
}

// Its supervisor was killed. The kernel ends the main processes of its tasks; the rest we do.
void ProcessBackend::clear(Attempt& attempt) {
  attempt.state = AttemptState::kClearing;
  for (const TaskProcess& task : attempt.tasks) {
    TaskGroup::kill_all(limits_.folders(), attempt.key, task.task);
  }
  const std::string mark = fmt::format("BERTH_PROGRESS={}/", folder(attempt.key));
  const bool other_boot = attempt.supervisor && attempt.supervisor->boot_id != boot_id();
  if (!other_boot && !all_quiet(kill_remains(mark, attempt.tasks), attempt)) {
    clear_at_us_ = std::min(clear_at_us_, EventLoop::now_us() + kClearPauseUs);
    return;
  }
  for (const TaskProcess& task : attempt.tasks) {
    TaskGroup::remove_all(limits_.folders(), attempt.key, task.task);
  }
  if (attempt.runs) tell_started(attempt);
  finish(attempt, {.kind = AttemptEndKind::kLost,
                   .why = other_boot ? "the machine was restarted while it ran"
                                     : "its supervisor was killed"});
}

void ProcessBackend::tell_started(Attempt& attempt) {
  if (attempt.told_started || !attempt.runs || !attempt.supervisor) return;
  attempt.told_started = true;
  told_.push_back({.key = attempt.key, .started = attempt.supervisor, .ended = std::nullopt});
}

void ProcessBackend::finish(Attempt& attempt, AttemptEnd end) {
  for (const auto& cpus : attempt.pins) limits_.give_back(cpus);
  watches_.erase(attempt.watch);
  told_.push_back({.key = attempt.key, .started = std::nullopt, .ended = std::move(end)});
  attempts_.erase(std::string(attempt.key));
}

void ProcessBackend::finish_not_started(Attempt& attempt, const std::string& why) {
  finish(attempt, {.kind = AttemptEndKind::kNotStarted, .why = why});
}

// Logs stay, and so does a claim of nobody: a launcher of a daemon that was killed may come to its
// request as late as it likes.
void ProcessBackend::forget(const std::string& key) {
  if (!is_attempt_key(key) || attempts_.contains(key)) return;
  const std::string where = folder(key);
  const auto text = read_file(where + "/" + kClaimFile, kMaxFolderFileBytes);
  const auto claim = text ? parse_claim(*text) : std::nullopt;
  if (!claim || !claim->supervisor) return;
  (void)::unlink((where + "/" + kEndFile).c_str());
  (void)::unlink((where + "/" + kClaimFile).c_str());
  // Reports that were never written need no file.
  for (const TaskProcess& task : claim->tasks) {
    const std::string progress = fmt::format("{}/{}.progress", where, task.task);
    struct stat info {};
    if (::lstat(progress.c_str(), &info) == 0 && info.st_size == 0) {
      (void)::unlink(progress.c_str());
    }
  }
  (void)::rmdir(where.c_str());  // if nothing is in it
}

// --- the loop ---

void ProcessBackend::poll(const BackendEvents& events) {
  const auto ready = loop_->ready();
  // Reports first: what a supervisor told comes before its end.
  read_reports();
  for (const std::uint64_t number : ready) {
    if (number == kLauncherWatch) launcher_died();
    const auto found = watches_.find(number);
    if (found == watches_.end()) continue;
    const std::string key = found->second;  // goes with its attempt
    settle(key, "its supervisor was killed before it began");
  }
  on_time(events);
  send_queue();
  // The callbacks may start and stop attempts.
  std::vector<Told> told;
  told.swap(told_);
  for (const Told& one : told) {
    if (one.started && events.started) events.started(one.key, *one.started);
    if (one.ended && events.ended) events.ended(one.key, *one.ended);
  }
  arm_timer();
}

void ProcessBackend::on_time(const BackendEvents& events) {
  const TimeUs now = EventLoop::now_us();
  const auto all_in = [&](AttemptState state) {
    std::vector<std::string> keys;
    for (const auto& [key, attempt] : attempts_) {
      if (attempt.state == state) keys.push_back(key);
    }
    return keys;
  };
  if (now >= unclear_at_us_) {
    unclear_at_us_ = kNever;
    for (const auto& key : all_in(AttemptState::kUnclear)) {
      settle(key, "the scheduler was ended before it began");
    }
  }
  if (now >= clear_at_us_) {
    clear_at_us_ = kNever;
    for (const auto& key : all_in(AttemptState::kClearing)) clear(attempts_.at(key));
  }
  if (now >= devices_at_us_) {
    devices_at_us_ = now + options_.device_poll_us;
    const bool changed = devices_->look([this](std::int32_t pid) { return ours(pid); });
    if (changed && events.devices_changed) events.devices_changed();
  }
}

void ProcessBackend::arm_timer() {
  TimeUs at = std::min({unclear_at_us_, clear_at_us_, devices_at_us_});
  if (!launcher_.socket) at = std::min(at, launcher_at_us_);
  if (!told_.empty()) at = 0;
  loop_->set_timer(at);
}

// Its parents lead to a supervisor of ours: what tasks leave behind goes to their supervisor.
bool ProcessBackend::ours(std::int32_t pid) const {
  constexpr int kDeepest = 1000;
  for (int depth = 0; pid > 1 && depth < kDeepest; ++depth) {
    const auto stat = process_stat(pid);
    // In a container the driver's numbers are not ours: nothing is known of such a process.
    if (!stat) return depth == 0 && !attempts_.empty();
    for (const auto& [key, attempt] : attempts_) {
      if (attempt.supervisor && attempt.supervisor->pid == pid &&
          attempt.supervisor->start_ticks == stat->start_ticks) {
        return true;
      }
    }
    pid = stat->parent;
  }
  return false;
}

}  // namespace
}  // namespace local

Result<std::unique_ptr<LocalBackend>> make_local_backend(LocalOptions options) {
  auto backend = std::make_unique<local::ProcessBackend>(std::move(options));
  BERTH_CHECK_OK(backend->open());
  return std::unique_ptr<LocalBackend>(std::move(backend));
}

}  // namespace berth
