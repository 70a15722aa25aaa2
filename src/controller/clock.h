// The scheduler's clock: it never goes back, does not jump when somebody sets the machine's, and
// goes on after a restart where it had been.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace berth {

// Where time comes from; tests have their own.
struct TimeSource {
  std::function<std::int64_t()> boottime_us;  // since the machine was booted; never goes back
  std::function<std::int64_t()> unix_us;      // of the wall clock; may jump
  std::string boot_id;                        // another one after each boot
};
[[nodiscard]] TimeSource machine_time();

// What is kept of a clock across restarts.
struct ClockMark {
  TimeUs scheduler_us = 0;
  std::int64_t unix_us = 0;
  std::int64_t boottime_us = 0;
  std::string boot_id;
  friend bool operator==(const ClockMark&, const ClockMark&) = default;
};

[[nodiscard]] std::string mark_text(const ClockMark& mark);
[[nodiscard]] std::optional<ClockMark> parse_mark(std::string_view text);

class SchedulerClock {
 public:
  // Goes on from a mark: by the time since boot if the machine was not booted again, else by the
  // wall clock, and never backwards.
  SchedulerClock(TimeSource source, const std::optional<ClockMark>& mark);

  [[nodiscard]] TimeUs now_us() const;
  // The wall clock, since 1970. For people only: it may jump.
  [[nodiscard]] std::int64_t unix_us() const { return source_.unix_us(); }
  [[nodiscard]] ClockMark mark() const;
  // What the scheduler's clock shows at an instant of the wall clock as that now goes.
  [[nodiscard]] TimeUs from_unix_us(std::int64_t unix_us) const;

 private:
  TimeSource source_;
  TimeUs offset_us_ = 0;  // of the scheduler's clock to the time since boot
};

}  // namespace berth
