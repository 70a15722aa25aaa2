// What values a job may have, for those who read them and those who check them.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace berth::job_limits {

inline constexpr std::int64_t kMostGpus = 64;                  // of a worker
inline constexpr std::int64_t kMostCpuMilli = 1'000'000'000;   // of a worker
inline constexpr std::int64_t kMostMemoryMib = 1'000'000'000;  // of a worker, or of its GPUs
inline constexpr std::int64_t kMostIterations = 1'000'000'000'000'000;
inline constexpr std::int64_t kMostUrgent = 10;
inline constexpr std::int64_t kMostRestarts = 1'000'000;
inline constexpr std::int64_t kPpm = 1'000'000;
inline constexpr TimeUs kMostSpanUs = 36'525 * kUsPerDay;  // 100 years
inline constexpr std::int64_t kLeastLogBytes = 4'096;
inline constexpr std::int64_t kMostLogBytes = std::int64_t{1} << 40U;
inline constexpr std::size_t kMostNameBytes = 256;
inline constexpr std::size_t kMostPathBytes = 4'095;  // the kernel's
inline constexpr std::size_t kMostGpuTypes = 64;
inline constexpr std::size_t kMostEdges = 65'536;

}  // namespace berth::job_limits
