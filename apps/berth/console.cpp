#include "console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/text.h"

namespace berth::cli {
namespace {

std::atomic<bool> interrupted{false};

void on_interrupt(int signal_number) {
  if (interrupted.exchange(true)) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
}

double cpu_s(const rusage& usage) {
  const auto s = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return s(usage.ru_utime) + s(usage.ru_stime);
}

}  // namespace

bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}
bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

bool stdout_has_colour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return stdout_is_terminal() && (no_colour == nullptr || *no_colour == '\0');
}

void occupy_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one.
    (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

const std::atomic<bool>& catch_interrupts() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    // What whoever started the process has it ignore (nohup, a shell's &) stays ignored.
    struct sigaction before {};
    if (sigaction(signal_number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    std::signal(signal_number, on_interrupt);
  }
  return interrupted;
}

Status print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return fail(io_error("standard output", "could not be written"));
  }
  return {};
}

void print_err(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

ProgressBar::ProgressBar(std::string title)
    : title_(std::move(title)),
      enabled_(stderr_is_terminal()),
      start_(Clock::now()),
      last_drawn_(start_) {}

void ProgressBar::update(double done) {
  using std::chrono::milliseconds;
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now - start_ < milliseconds(1000) || now - last_drawn_ < milliseconds(100)) return;
  last_drawn_ = now;
  drawn_ = true;
  done = std::clamp(done, 0.0, 1.0);
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(done * kWidth);
  const double spent_s = std::chrono::duration<double>(now - start_).count();
  std::string left = "?";
  if (done > 0.01) {
    left = human_duration(static_cast<TimeUs>(spent_s * (1 - done) / done * 1e6)) + " left";
  }
  print_err(fmt::format("\r\033[K{}  [{:#>{}}{:.>{}}]  {:.0f} %  {}", title_, "", filled, "",
                        kWidth - filled, done * 100, left));
  std::fflush(stderr);
}

ProgressBar::~ProgressBar() {
  if (drawn_) print_err("\r\033[K");
}

Usage usage_now() {
  rusage process{};
  rusage thread{};
  getrusage(RUSAGE_SELF, &process);
  getrusage(RUSAGE_THREAD, &thread);
  return {cpu_s(process), cpu_s(thread), static_cast<double>(process.ru_maxrss) / 1024.0};
}

}  // namespace berth::cli
