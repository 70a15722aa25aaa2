#include "engine/contention.h"

#include <algorithm>

#include "base/int128.h"

namespace berth {
namespace {

constexpr std::int64_t kMostPpm = kOncePpm * kOncePpm;

std::int64_t bounded(Int128 ppm) {
  return ppm < kMostPpm ? static_cast<std::int64_t>(ppm) : kMostPpm;
}

// u of a resource, and once while there is enough.
std::int64_t stretch_ppm(std::int64_t used, std::int64_t capacity) {
  if (capacity <= 0 || used <= capacity) return kOncePpm;
  return bounded(divide_up(static_cast<Int128>(used) * kOncePpm, capacity));
}

}  // namespace

std::int64_t times_ppm(std::int64_t a_ppm, std::int64_t b_ppm) {
  if (a_ppm == kOncePpm) return b_ppm;
  if (b_ppm == kOncePpm) return a_ppm;
  return bounded(divide_up(static_cast<Int128>(a_ppm) * b_ppm, kOncePpm));
}

std::int64_t slowdown_of_speed(std::int64_t speed_milli, std::int64_t speed_ppm) {
  constexpr Int128 kWhole = static_cast<Int128>(1000) * kOncePpm * kOncePpm;
  return bounded(divide_up(kWhole, static_cast<Int128>(speed_milli) * speed_ppm));
}

void DeviceUse::add(const TaskUse& use, int sign) {
  sm_ppm += static_cast<std::int64_t>(use.sm_ppm) * sign;
  memory_bandwidth_ppm += static_cast<std::int64_t>(use.memory_bandwidth_ppm) * sign;
  bus_ppm += static_cast<std::int64_t>(use.bus_ppm) * sign;
  tasks += sign;
}

std::int64_t sharing_slowdown_ppm(const ContentionModel& model, const TaskUse& own,
                                  const DeviceUse& all) {
  if (all.tasks <= 1) return kOncePpm;
  std::int64_t factor = kOncePpm;
  if (own.sm_ppm > 0) factor = times_ppm(factor, stretch_ppm(all.sm_ppm, kOncePpm));
  if (own.memory_bandwidth_ppm > 0) {
    factor = times_ppm(factor, stretch_ppm(all.memory_bandwidth_ppm, kOncePpm));
  }
  if (own.bus_ppm > 0) factor = times_ppm(factor, stretch_ppm(all.bus_ppm, kOncePpm));
  const std::int64_t others_ppm = all.sm_ppm - own.sm_ppm;
  const auto crosstalk = static_cast<Int128>(model.crosstalk_ppm) * others_ppm;
  return times_ppm(factor, kOncePpm + bounded(divide_up(crosstalk, kOncePpm)));
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
