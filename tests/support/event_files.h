// Writes TensorBoard event files for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::test {

enum class ScalarForm : std::uint8_t { kSimple, kTensorFloat, kTensorDouble, kTensorContent };

// A record around `data`.
[[nodiscard]] std::string event_record(std::string_view data);
// The data of an event with one scalar.
[[nodiscard]] std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag,
                                       double value, ScalarForm form = ScalarForm::kSimple);
[[nodiscard]] inline std::string scalar_record(std::int64_t step, std::string_view tag,
                                               double value) {
  return event_record(scalar_event(1'772'445'600.0 + static_cast<double>(step), step, tag, value));
}

}  // namespace berth::test
