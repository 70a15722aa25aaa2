// kill -9 of everything, at random points: the daemon, its launcher, supervisors, tasks. Each task
// writes its key into a ledger when it begins; the daemon writes down each end that it was told.
// Rounds: BERTH_CHAOS_ROUNDS (20); BERTH_CHAOS_SEED does again what a failure printed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <random>
#include <set>

#include "backend/local/attempt_folder.h"
#include "backend/local/process.h"
#include "base/number.h"
#include "base/random.h"
#include "unit/backend/local_harness.h"

namespace berth::testing {
namespace {

constexpr int kJobs = 30;
constexpr int kInFlight = 6;
constexpr int kKills = 8;

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : parse_int(text).value_or(otherwise);
}

// As the store does: on its way when this returns, whatever happens to the process.
void append(const std::string& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
  const ssize_t wrote = ::write(fd, line.data(), line.size());
  if (wrote != static_cast<ssize_t>(line.size())) std::abort();
  ::close(fd);
}

std::vector<std::vector<std::string>> lines_of(const std::string& file) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text_of(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    auto& row = out.emplace_back();
    for (std::string word; words >> word;) row.push_back(word);
  }
  return out;
}

// A third ends at once, a third after a moment, a third leaves a process behind.
AttemptLaunch job(const std::string& folder, int number) {
  const std::string key = fmt::format("{}.1", number);
  static constexpr std::array<const char*, 3> kEnds = {"", "sleep 0.05", "(setsid sleep 1000 &)"};
  return shell(key, fmt::format("echo {} >> {}/ledger; {}", key, folder, kEnds.at(number % 3)),
               number % 7 == 0 ? 3 : 1);
}

// What a daemon does, in a process of its own: settles what was intended, then starts the rest.
[[noreturn]] void be_daemon(const std::string& folder) {
  std::set<std::string> ended;
  for (const auto& line : lines_of(folder + "/ends")) ended.insert(line.at(0));
  auto opened = make_local_backend(local_options(folder));
  if (!opened) ::_exit(2);
  const auto backend = *std::move(opened);
  std::set<std::string> open;
  int next = 0;
  for (const auto& line : lines_of(folder + "/intents")) {
    ++next;
    if (ended.contains(line.at(0))) continue;
    open.insert(line.at(0));
    backend->adopt(line.at(0), std::nullopt);
  }
  BackendEvents events;
  events.ended = [&](const std::string& key, const AttemptEnd& end) {
    append(folder + "/ends",
           fmt::format("{} {} {}\n", key, static_cast<int>(end.kind), end.success() ? 1 : 0));
    open.erase(key);
    backend->forget(key);
  };
  while (next < kJobs || !open.empty()) {
    while (next < kJobs && open.size() < kInFlight) {
      const AttemptLaunch launch = job(folder, next++);
      append(folder + "/intents", launch.key + "\n");
      open.insert(launch.key);
      if (!backend->start(launch)) ::_exit(3);
    }
    pollfd one{.fd = backend->event_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&one, 1, 1000);
    backend->poll(events);
  }
  ::_exit(0);
}

pid_t start_daemon(const std::string& folder) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) be_daemon(folder);
  return pid;
}

// Kills the process of this number if it is what it was when the claim was written.
void kill_exactly(pid_t pid, std::uint64_t start_ticks) {
  const auto stat = local::process_stat(pid);
  if (stat && stat->start_ticks == start_ticks) local::signal_exactly(*stat, SIGKILL);
}

// A claim of those that there are just now.
std::optional<local::Claim> some_claim(const std::string& folder, Rng& rng) {
  std::vector<std::string> files;
  std::error_code no_matter;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/attempts", no_matter)) {
    files.push_back(entry.path().string() + "/claim");
  }
  if (files.empty()) return std::nullopt;
  std::sort(files.begin(), files.end());
  return local::parse_claim(text_of(files[rng.below(files.size())]));
}

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : rng_(seed) {}
  void run();
  // How many attempts ended in each way (AttemptEndKind).
  std::array<std::int64_t, 4> kinds{};

 private:
  void kill_something();
  void check();

  Folder folder_;
  Rng rng_;
  pid_t daemon_ = -1;
};

void Chaos::kill_something() {
  const std::string& folder = folder_.path();
  const auto claim = some_claim(folder, rng_);
  switch (rng_.below(4)) {
    case 0:
      ::kill(daemon_, SIGKILL);
      ::waitpid(daemon_, nullptr, 0);
      daemon_ = start_daemon(folder);
      return;
    case 1:
      for (const auto& process : local::all_processes()) {
        if (process.parent == daemon_) local::signal_exactly(process, SIGKILL);
      }
      return;
    case 2:
      if (claim && claim->supervisor) {
        kill_exactly(claim->supervisor->pid, claim->supervisor->start_ticks);
      }
      return;
    default:
      if (!claim) return;
      for (const auto& task : claim->tasks) kill_exactly(task.pid, task.start_ticks);
  }
}

void Chaos::run() {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  daemon_ = start_daemon(folder_.path());
  for (int i = 0; i < kKills; ++i) {
    (void)::poll(nullptr, 0, static_cast<int>(rng_.below(60)));
    kill_something();
  }
  int status = -1;
  ASSERT_EQ(::waitpid(daemon_, &status, 0), daemon_);
  EXPECT_EQ(status, 0);
  check();
}

void Chaos::check() {
  const std::string& folder = folder_.path();
  std::map<std::string, int> ran;
  for (const auto& line : lines_of(folder + "/ledger")) ++ran[line.at(0)];
  std::map<std::string, std::vector<std::string>> ends;
  for (const auto& line : lines_of(folder + "/ends")) {
    EXPECT_TRUE(ends.emplace(line.at(0), line).second) << line[0] << " ended twice";
  }
  const auto intents = lines_of(folder + "/intents");
  EXPECT_EQ(intents.size(), static_cast<std::size_t>(kJobs));
  for (std::size_t i = 0; i < intents.size(); ++i) {
    const std::string& key = intents[i].at(0);
    ASSERT_TRUE(ends.contains(key)) << key << " has no end";
    const int tasks = static_cast<int>(job(folder, static_cast<int>(i)).tasks.size());
    const auto kind = static_cast<AttemptEndKind>(std::stoi(ends[key].at(1)));
    ++kinds.at(static_cast<std::size_t>(kind));
    EXPECT_LE(ran[key], tasks) << key << " ran twice";
    if (kind == AttemptEndKind::kNotStarted) {
      EXPECT_EQ(ran[key], 0) << key << " ran";
    }
    if (ends[key].at(2) == "1") {
      EXPECT_EQ(ran[key], tasks) << key << " did not run";
    }
    EXPECT_NE(kind, AttemptEndKind::kStopped) << key;
  }
  for (const auto& process : local::all_processes()) {
    const std::string environment = text_of("/proc/" + std::to_string(process.pid) + "/environ");
    EXPECT_EQ(environment.find("BERTH_PROGRESS=" + folder), std::string::npos)
        << process.pid << " was left behind";
  }
}

TEST(LocalChaos, LosesNothingAndRunsNothingTwice) {
  const auto seed = static_cast<std::uint64_t>(
      number_of("BERTH_CHAOS_SEED", static_cast<std::int64_t>(std::random_device()() >> 1)));
  std::array<std::int64_t, 4> kinds{};
  const std::int64_t rounds = number_of("BERTH_CHAOS_ROUNDS", 20);
  for (std::int64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("BERTH_CHAOS_ROUNDS=1 BERTH_CHAOS_SEED={}", seed + round));
    Chaos chaos(seed + static_cast<std::uint64_t>(round));
    chaos.run();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) kinds.at(kind) += chaos.kinds.at(kind);
  }
  fmt::print("exited {}, not started {}, lost {}\n", kinds[0], kinds[2], kinds[3]);
}

}  // namespace
}  // namespace berth::testing
