// Which jobs of a trace a workload of N jobs takes, and when they arrive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace berth::presets {

struct Arrival {
  std::size_t source = 0;  // index of the job that is taken
  TimeUs submit_us = 0;    // after the first one
  std::uint64_t copy = 0;  // 0: the job itself, at its own time; else the number of a resampled one
};

// Indices [first, last) of the `length_us` long window with the most arrivals, the earliest of
// several. `times_us` ascending.
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] Window busiest_window(std::span<const TimeUs> times_us, TimeUs length_us);

// `jobs` of the arrivals in the window, in order of time. Fewer than there are: a random subset, so
// that bursts and rhythm stay. More: all of them, and further ones drawn with replacement, which
// come at new times of the same distribution (uniform between two neighbouring arrivals).
[[nodiscard]] std::vector<Arrival> draw_arrivals(std::span<const TimeUs> times_us, Window window,
                                                 std::size_t jobs, const Rng& root);

}  // namespace berth::presets
