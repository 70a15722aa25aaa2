// How much tasks slow each other down where they share a device or a server (simulation.md, truth
// about interference; docs/contention.md has the fit and its error). Exact integers: factors are
// parts per million, rounded up.
#pragma once

#include <cstdint>

#include "engine/training.h"
#include "model/resources.h"

namespace berth {

inline constexpr std::int64_t kOncePpm = 1'000'000;  // no slow-down

// The product of two factors; it stops growing at a million times.
[[nodiscard]] std::int64_t times_ppm(std::int64_t a_ppm, std::int64_t b_ppm);

// Of a device whose type has this speed, and that runs at this part of it.
[[nodiscard]] std::int64_t slowdown_of_speed(std::int64_t speed_milli, std::int64_t speed_ppm);

// The sum of what the tasks on a device use.
struct DeviceUse {
  std::int64_t sm_ppm = 0;
  std::int64_t harm_ppm = 0;  // what each does to a partner that never waits for the bus
  std::int64_t tasks = 0;

  void add(const TaskUse& use, int sign = 1);
  [[nodiscard]] bool overloaded() const { return tasks > 1 && sm_ppm > kOncePpm; }
};

// Slow-down of a task among `all` on its device, itself included; alone it is exactly once. The
// form fitted to measured pairs (docs/contention.md):
//   1 + sum over others of 0.241 min(sm + bw, 1.2)^11 / (1 + 13.5 own bus)
// and never less than what all want of the device's time.
[[nodiscard]] std::int64_t sharing_slowdown_ppm(const TaskUse& own, const DeviceUse& all);

// The sum of what the tasks on a server use.
struct ServerUse {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;

  void add(const TaskUse& use, int sign = 1);
  [[nodiscard]] bool overloaded(const ResourceVector& capacity) const;
  friend bool operator==(const ServerUse&, const ServerUse&) = default;
};

// A resource used u > 1 times slows its users by u. Links are not among them: theirs is the time of
// the flows (network.h).
[[nodiscard]] std::int64_t overload_slowdown_ppm(const TaskUse& own, const ServerUse& all,
                                                 const ResourceVector& capacity);

}  // namespace berth
