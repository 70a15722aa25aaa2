#include "policy/tiresias/gittins.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

// Of level 1; level 0 is from no service at all.
constexpr double kFirstEdgeGpuS = 1.0;
constexpr double kLeastGpuS = 1e-6;

double edge(std::size_t level) {
  if (level == 0) return 0.0;
  constexpr double kHalfOctave = 1.4142135623730951;
  const auto octave = static_cast<int>((level - 1) / 2);
  return std::ldexp(kFirstEdgeGpuS * (level % 2 == 0 ? kHalfOctave : 1.0), octave);
}

}  // namespace

std::size_t GittinsIndex::level(double service_gpu_s) {
  // Edges and not a logarithm: the same on every machine.
  std::size_t low = 0;
  std::size_t high = kLevels - 1;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (service_gpu_s >= edge(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void GittinsIndex::add(double service_gpu_s) {
  const std::size_t bucket = level(service_gpu_s);
  count_[bucket] += 1;
  sum_gpu_s_[bucket] += service_gpu_s;
  ++known_;
  stale_ = true;
}

double GittinsIndex::at(std::size_t level) {
  if (stale_) renew();
  return index_[level];
}

// D runs over the upper edges of the buckets.
void GittinsIndex::renew() {
  stale_ = false;
  double beyond = 0;  // jobs that took at least the level's lower edge
  for (std::size_t level = kLevels; level-- > 0;) {
    beyond += count_[level];
    const double had = edge(level);
    double ended = 0;
    double their_sum = 0;
    double best = 0;
    for (std::size_t b = level; b < kLevels && ended < beyond; ++b) {
      ended += count_[b];
      their_sum += sum_gpu_s_[b] - count_[b] * had;
      const double step = b + 1 < kLevels ? edge(b + 1) - had : 2 * edge(b);
      // Those that end at the very edge take no time at all.
      const double expected = std::max(kLeastGpuS * ended, their_sum + (beyond - ended) * step);
      if (ended > 0) best = std::max(best, ended / expected);
    }
    index_[level] = best;
  }
}

}  // namespace berth
