// The median of numbers that come one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace berth {

class RunningMedian {
 public:
  void add(std::int64_t value) {
    if (lower_.empty() || value <= lower_.top()) {
      lower_.push(value);
    } else {
      upper_.push(value);
    }
    if (lower_.size() > upper_.size() + 1) {
      upper_.push(lower_.top());
      lower_.pop();
    } else if (upper_.size() > lower_.size()) {
      lower_.push(upper_.top());
      upper_.pop();
    }
  }
  [[nodiscard]] bool empty() const { return lower_.empty(); }
  // The lower one of the two in the middle of an even number. There must be one.
  [[nodiscard]] std::int64_t value() const { return lower_.top(); }
  void clear() { *this = {}; }

 private:
  std::priority_queue<std::int64_t> lower_;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> upper_;
};

}  // namespace berth
