// What happened, for those who follow: numbered, the newest ones kept.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "store/store.h"

namespace berth {

struct LiveEvent {
  std::uint64_t sequence = 0;  // 1, 2, ... of this run of the scheduler
  std::int64_t unix_us = 0;
  std::string_view kind;  // "submitted", "started", ...: lives as long as the program
  JobNumber job = 0;
  std::uint32_t attempt = 0;  // 0: not of an attempt
  std::string detail;         // one line for people; may be empty
};

class EventRing {
 public:
  void add(std::string_view kind, std::int64_t unix_us, JobNumber job, std::uint32_t attempt,
           std::string detail) {
    events_.push_back({++last_, unix_us, kind, job, attempt, std::move(detail)});
    if (events_.size() > kKept) events_.pop_front();
  }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  // The first event after `sequence` that is still there; null: there is none.
  [[nodiscard]] const LiveEvent* after(std::uint64_t sequence) const {
    if (sequence >= last_ || events_.empty()) return nullptr;
    const std::uint64_t first = events_.front().sequence;
    return &events_[sequence < first ? 0 : sequence - first + 1];
  }

 private:
  static constexpr std::size_t kKept = 10'000;
  std::deque<LiveEvent> events_;
  std::uint64_t last_ = 0;
};

}  // namespace berth
