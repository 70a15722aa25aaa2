#include "controller/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "base/boot_id.h"
#include "base/number.h"
#include "base/text.h"

namespace berth {
namespace {

std::int64_t read_clock_us(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * kUsPerS + now.tv_nsec / 1000;
}

}  // namespace

TimeSource machine_time() {
  return {.boottime_us = [] { return read_clock_us(CLOCK_BOOTTIME); },
          .unix_us = [] { return read_clock_us(CLOCK_REALTIME); },
          .boot_id = boot_id()};
}

std::string mark_text(const ClockMark& mark) {
  return fmt::format("{} {} {} {}", mark.scheduler_us, mark.unix_us, mark.boottime_us,
                     mark.boot_id);
}

std::optional<ClockMark> parse_mark(std::string_view text) {
  const auto parts = split(text, ' ');
  if (parts.size() != 4) return std::nullopt;
  const auto scheduler_us = parse_int(parts[0]);
  const auto unix_us = parse_int(parts[1]);
  const auto boot_us = parse_int(parts[2]);
  if (!scheduler_us || !unix_us || !boot_us) return std::nullopt;
  return ClockMark{*scheduler_us, *unix_us, *boot_us, std::string(parts[3])};
}

SchedulerClock::SchedulerClock(TimeSource source, const std::optional<ClockMark>& mark)
    : source_(std::move(source)) {
  TimeUs now_us = 0;
  if (mark) {
    const bool same_boot = !source_.boot_id.empty() && mark->boot_id == source_.boot_id;
    const std::int64_t passed_us =
        same_boot ? source_.boottime_us() - mark->boottime_us : source_.unix_us() - mark->unix_us;
    now_us = mark->scheduler_us + std::max<std::int64_t>(0, passed_us);
  }
  offset_us_ = now_us - source_.boottime_us();
}

TimeUs SchedulerClock::now_us() const {
  return source_.boottime_us() + offset_us_;
}

ClockMark SchedulerClock::mark() const {
  return {now_us(), source_.unix_us(), source_.boottime_us(), source_.boot_id};
}

TimeUs SchedulerClock::from_unix_us(std::int64_t unix_us) const {
  return now_us() + (unix_us - source_.unix_us());
}

}  // namespace berth
