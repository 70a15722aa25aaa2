#include "backend/local/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace berth::local {
namespace {

constexpr std::uint64_t kTimer = 0;
constexpr std::int64_t kNsPerUs = 1000;

}  // namespace

TimeUs EventLoop::now_us() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return TimeUs{now.tv_sec} * kUsPerS + now.tv_nsec / kNsPerUs;
}

Result<EventLoop> EventLoop::make() {
  EventLoop loop;
  loop.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  loop.timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!loop.epoll_ || !loop.timer_ || !loop.watch(loop.timer_.get(), kTimer)) {
    return fail(internal_error(fmt::format("cannot watch processes: {}", std::strerror(errno))));
  }
  return loop;
}

bool EventLoop::watch(int fd, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::watch_writing(int fd, std::uint64_t number, bool writing) {
  epoll_event event{};
  event.events = EPOLLIN | (writing ? EPOLLOUT : 0U);
  event.data.u64 = number;
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::set_timer(TimeUs at_us) {
  if (at_us == timer_at_us_) return;
  timer_at_us_ = at_us;
  itimerspec spec{};
  if (at_us != kNever) {
    const TimeUs at = std::max<TimeUs>(at_us, 1);  // zero would switch it off
    spec.it_value.tv_sec = at / kUsPerS;
    spec.it_value.tv_nsec = at % kUsPerS * kNsPerUs;
  }
  (void)::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

std::vector<std::uint64_t> EventLoop::ready() {
  constexpr int kMost = 1024;
  std::array<epoll_event, kMost> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), kMost, 0);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
    if (number != kTimer) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace berth::local
