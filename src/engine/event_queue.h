// What comes of the state of a run, earliest first: a job's end, or the end of its loading. At one
// instant by id, so that order never depends on how they got in. Arrivals and failures are known
// beforehand and stay in their lists.
#pragma once

#include <cstddef>
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
    std::size_t at = heap_.size();
    heap_.push_back(event);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kBranches;
      if (!earlier(event, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = event;
  }
  void pop() {
    const FutureEvent last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return;
    std::size_t at = 0;
    while (true) {
      const std::size_t child = first_child(at, size);
      if (child == size || !earlier(heap_[child], last)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = last;
  }

 private:
  // Four events fill a cache line, and a heap of so many branches is half as deep as one of two.
  static constexpr std::size_t kBranches = 4;

  static bool earlier(const FutureEvent& a, const FutureEvent& b) {
    if (a.at_us != b.at_us) return a.at_us < b.at_us;
    return a.id < b.id;
  }
  // The earliest child of a node; `size`: it has none.
  [[nodiscard]] std::size_t first_child(std::size_t node, std::size_t size) const {
    const std::size_t begin = node * kBranches + 1;
    if (begin >= size) return size;
    const std::size_t end = begin + kBranches < size ? begin + kBranches : size;
    std::size_t best = begin;
    for (std::size_t child = begin + 1; child < end; ++child) {
      if (earlier(heap_[child], heap_[best])) best = child;
    }
    return best;
  }

  std::vector<FutureEvent> heap_;
};

}  // namespace berth
