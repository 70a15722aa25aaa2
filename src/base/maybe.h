// An integer that may be unknown, in eight bytes. Unknown is never 0.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>

namespace berth {

class MaybeInt {
 public:
  constexpr MaybeInt() = default;
  // Implicit on purpose: a known value is the common case.
  constexpr MaybeInt(std::int64_t value) : value_(value) { assert(value != kUnknown); }  // NOLINT

  [[nodiscard]] constexpr bool known() const { return value_ != kUnknown; }
  [[nodiscard]] constexpr std::int64_t value() const {
    assert(known());
    return value_;
  }
  [[nodiscard]] constexpr std::int64_t value_or(std::int64_t other) const {
    return known() ? value_ : other;
  }
  friend constexpr bool operator==(MaybeInt, MaybeInt) = default;

 private:
  static constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
  std::int64_t value_ = kUnknown;
};

}  // namespace berth
