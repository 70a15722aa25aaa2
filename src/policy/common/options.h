// Reading --set key=value for a policy.
#pragma once

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace berth {

// A number that a policy lets its user set. The key names the unit.
struct NumberSetting {
  std::string_view key;
  double* value;  // holds the default; finite and within bounds after reading
  double low;
  double high;
};

// A setting of so many seconds, hours...
[[nodiscard]] inline TimeUs us_of(double value, TimeUs unit) {
  return std::llround(value * static_cast<double>(unit));
}

// Sets what is given; an error for a key that the policy does not know, or a value out of bounds.
[[nodiscard]] Status read_options(std::string_view policy, std::span<const PolicyOption> options,
                                  std::span<const NumberSetting> settings);

// For a policy without options: an error naming the first one given.
[[nodiscard]] Status no_options(std::string_view policy, std::span<const PolicyOption> options);

}  // namespace berth
