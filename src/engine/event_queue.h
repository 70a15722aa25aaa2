// Future events, earliest first; at one instant by kind, then by id, so that order never depends on
// how they got in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace berth {

// At one instant: completions, then failures, then arrivals, then one decision (simulation.md). The
// queue holds what comes of the state of a run: a job's end, or the end of its loading. Arrivals
// and failures are known beforehand and stay in their lists.
enum class FutureKind : std::uint8_t { kJob };

struct FutureEvent {
  TimeUs at_us = 0;
  FutureKind kind = FutureKind::kJob;
  std::uint32_t id = 0;
  std::uint32_t generation = 0;  // stale if its subject has moved on
};

class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const FutureEvent& top() const { return heap_.front(); }
  void push(const FutureEvent& event) {
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }

 private:
  static bool later(const FutureEvent& a, const FutureEvent& b) {
    if (a.at_us != b.at_us) return a.at_us > b.at_us;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.id > b.id;
  }
  std::vector<FutureEvent> heap_;
};

}  // namespace berth
