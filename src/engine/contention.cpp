#include "engine/contention.h"

#include <algorithm>

#include "base/int128.h"

namespace berth {
namespace {

constexpr std::int64_t kMostPpm = kOncePpm * kOncePpm;

std::int64_t bounded_ppm(Int128 ppm) {
  return ppm < kMostPpm ? static_cast<std::int64_t>(ppm) : kMostPpm;
}

// u of a resource, and once while there is enough.
std::int64_t stretch_ppm(std::int64_t used, std::int64_t capacity) {
  if (capacity <= 0 || used <= capacity) return kOncePpm;
  return bounded_ppm(divide_up(static_cast<Int128>(used) * kOncePpm, capacity));
}

// 0.241 min(sm + bw, 1.2)^11.
std::int64_t harm_ppm_of(const TaskUse& use) {
  const std::int64_t pressure =
      std::min<std::int64_t>(1'200'000, std::int64_t{use.sm_ppm} + use.memory_bandwidth_ppm);
  const std::int64_t squared = times_ppm(pressure, pressure);
  const std::int64_t to_8 = times_ppm(times_ppm(squared, squared), times_ppm(squared, squared));
  return times_ppm(241'000, times_ppm(to_8, times_ppm(squared, pressure)));
}

}  // namespace

std::int64_t times_ppm(std::int64_t a_ppm, std::int64_t b_ppm) {
  if (a_ppm == kOncePpm) return b_ppm;
  if (b_ppm == kOncePpm) return a_ppm;
  return bounded_ppm(divide_up(static_cast<Int128>(a_ppm) * b_ppm, kOncePpm));
}

std::int64_t slowdown_of_speed(std::int64_t speed_milli, std::int64_t speed_ppm) {
  constexpr Int128 kWhole = static_cast<Int128>(1000) * kOncePpm * kOncePpm;
  return bounded_ppm(divide_up(kWhole, static_cast<Int128>(speed_milli) * speed_ppm));
}

void DeviceUse::add(const TaskUse& use, int sign) {
  sm_ppm += static_cast<std::int64_t>(use.sm_ppm) * sign;
  harm_ppm += harm_ppm_of(use) * sign;
  tasks += sign;
}

std::int64_t sharing_slowdown_ppm(const TaskUse& own, const DeviceUse& all) {
  if (all.tasks <= 1) return kOncePpm;
  // 1 + 13.5 bus, in thousandths of a millionth.
  const Int128 spared =
      1000 * static_cast<Int128>(kOncePpm) + 13'500 * static_cast<Int128>(own.bus_ppm);
  const Int128 harm = all.harm_ppm - harm_ppm_of(own);
  const std::int64_t fitted = kOncePpm + bounded_ppm(divide_up(harm * 1000 * kOncePpm, spared));
  return own.sm_ppm > 0 ? std::max(fitted, stretch_ppm(all.sm_ppm, kOncePpm)) : fitted;
}

void ServerUse::add(const TaskUse& use, int sign) {
  cpu_milli += static_cast<std::int64_t>(use.cpu_milli) * sign;
  memory_mib += static_cast<std::int64_t>(use.memory_mib) * sign;
}

bool ServerUse::overloaded(const ResourceVector& capacity) const {
  const auto over = [](std::int64_t used, std::int64_t limit) { return limit > 0 && used > limit; };
  return over(cpu_milli, capacity[Resource::kCpuMilli]) ||
         over(memory_mib, capacity[Resource::kMemoryMib]);
}

std::int64_t overload_slowdown_ppm(const TaskUse& own, const ServerUse& all,
                                   const ResourceVector& capacity) {
  std::int64_t factor = kOncePpm;
  if (own.cpu_milli > 0) {
    factor = times_ppm(factor, stretch_ppm(all.cpu_milli, capacity[Resource::kCpuMilli]));
  }
  if (own.memory_mib > 0) {
    factor = times_ppm(factor, stretch_ppm(all.memory_mib, capacity[Resource::kMemoryMib]));
  }
  return factor;
}

}  // namespace berth
