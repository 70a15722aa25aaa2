// Descriptors that are watched for being readable, by number, and a timer; itself a descriptor that
// is readable when something is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::local {

class EventLoop {
 public:
  [[nodiscard]] static Result<EventLoop> make();

  [[nodiscard]] int fd() const { return epoll_.get(); }
  // `number` comes back from ready(); never 0. A descriptor that is closed is watched no longer.
  [[nodiscard]] bool watch(int fd, std::uint64_t number);
  // Also when it can be written.
  void watch_writing(int fd, std::uint64_t number, bool writing);
  // Makes fd() readable at this instant of now_us(), at once if it is past; kNever: not at all.
  void set_timer(TimeUs at_us);
  // The numbers of what is ready, at most about a thousand of them.
  [[nodiscard]] std::vector<std::uint64_t> ready();

  // Of a clock that never jumps.
  [[nodiscard]] static TimeUs now_us();

 private:
  Fd epoll_;
  Fd timer_;
  TimeUs timer_at_us_ = kNever;
};

}  // namespace berth::local
