// What comes of the state of a run, earliest first: a job's end, or the end of its loading. At one
// instant by id, so that order never depends on how they got in. Arrivals and failures are known
// beforehand and stay in their lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace berth {

struct FutureEvent {
  TimeUs at_us = 0;
  std::uint32_t id = 0;          // JobId
  std::uint32_t generation = 0;  // stale if its job has moved on
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
    return a.id > b.id;
  }
  std::vector<FutureEvent> heap_;
};

}  // namespace berth
