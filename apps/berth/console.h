// The terminal: whether there is one, a progress bar on it, Ctrl-C, and what the process has used.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();
// Colours: only on a terminal, and not if NO_COLOR is set.
[[nodiscard]] bool stdout_has_colour();

// If the process was started without standard input, output or error, a file that it opens would
// get that number, and what is printed would end up in it. This fills the gaps with descriptors
// that fail when they are used, as closed ones do.
void occupy_standard_files();

// From now on Ctrl-C (or SIGTERM, or a terminal that goes away) only sets this flag; a second one
// ends the process. A signal that was ignored when the process began stays ignored.
[[nodiscard]] const std::atomic<bool>& catch_interrupts();

// Writes text to standard output and flushes; an error if it could not be written (disk full).
[[nodiscard]] Status print_out(std::string_view text);

// Writes text to standard error. There is nobody to tell if that fails, so it never does.
void print_err(std::string_view text) noexcept;

// "simulating fifo  [#####.....]  51 %  3.2 s left" on standard error, if it is a terminal and the
// work takes over a second.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();  // wipes the line

  // `done` from 0 to 1.
  void update(double done);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_drawn_;
};

struct Usage {
  double process_cpu_s = 0;
  double thread_cpu_s = 0;
  double peak_rss_mib = 0;
};
[[nodiscard]] Usage usage_now();

}  // namespace berth::cli
