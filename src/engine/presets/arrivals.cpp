#include "engine/presets/arrivals.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace berth::presets {

Window busiest_window(std::span<const TimeUs> times_us, TimeUs length_us) {
  Window best;
  std::size_t last = 0;
  for (std::size_t first = 0; first < times_us.size(); ++first) {
    while (last < times_us.size() && times_us[last] - times_us[first] < length_us) ++last;
    if (last - first > best.last - best.first) best = {first, last};
  }
  return best;
}

std::vector<Arrival> draw_arrivals(std::span<const TimeUs> times_us, Window window,
                                   std::size_t jobs, const Rng& root) {
  const std::size_t there = window.last - window.first;
  std::vector<std::size_t> sources(there);
  std::iota(sources.begin(), sources.end(), window.first);
  Rng subset = root.fork("subset");
  subset.shuffle(std::span(sources));
  sources.resize(std::min(jobs, there));

  std::vector<Arrival> out;
  out.reserve(jobs);
  for (const std::size_t source : sources) out.push_back({source, times_us[source], 0});
  Rng resampled = root.fork("resampled");
  for (std::uint64_t copy = 1; out.size() < jobs; ++copy) {
    const std::size_t source = window.first + resampled.below(there);
    const std::size_t before = window.first + resampled.below(std::max<std::size_t>(there - 1, 1));
    const TimeUs from = times_us[before];
    const TimeUs to = times_us[std::min(before + 1, window.last - 1)];
    out.push_back({source, resampled.uniform_int(from, to), copy});
  }
  std::ranges::sort(out, [](const Arrival& a, const Arrival& b) {
    return std::tie(a.submit_us, a.source, a.copy) < std::tie(b.submit_us, b.source, b.copy);
  });
  const TimeUs zero = out.front().submit_us;
  for (Arrival& arrival : out) arrival.submit_us -= zero;
  return out;
}

}  // namespace berth::presets
