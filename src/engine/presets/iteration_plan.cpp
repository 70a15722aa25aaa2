#include "engine/presets/iteration_plan.h"

#include <algorithm>

#include "base/int128.h"

namespace berth::presets {
namespace {

// Shorter than this nothing can be divided among the tasks of a replica.
constexpr TimeUs kShortestIteration = 1000;
// At most this part of the time between two checkpoints goes into one.
constexpr std::int64_t kCheckpointPart = 10;
// Of all replicas together: exact as a double, and far from overflow.
constexpr std::int64_t kMostIterations = 1'000'000'000'000'000;

constexpr std::int64_t divide_rounded(std::int64_t a, std::int64_t b) {
  return (a + b / 2) / b;
}

// Iterations of each replica.
std::int64_t rounds_of(const IterationWish& wish, TimeUs alone_us) {
  const std::int64_t fewest = wish.most_us == kNever ? 1 : (alone_us - 1) / wish.most_us + 1;
  const std::int64_t most =
      std::max(fewest, alone_us / std::max(wish.least_us, kShortestIteration));
  const std::int64_t wanted = divide_rounded(alone_us, std::max<TimeUs>(wish.iteration_us, 1));
  return std::min(std::clamp(wanted, fewest, most), kMostIterations / wish.replicas);
}

// As the engine counts: an iteration in whole picoseconds, the run in whole microseconds.
TimeUs run_time(const IterationPlan& plan, std::int64_t rounds) {
  constexpr Int128 kPerUs = 1'000'000;
  const Int128 every = plan.checkpoint_iterations;
  const Int128 pace = plan.compute_us * kPerUs + (plan.checkpoint_us * kPerUs + every - 1) / every;
  return static_cast<TimeUs>((rounds * pace + kPerUs - 1) / kPerUs);
}

}  // namespace

IterationPlan plan_iterations(const IterationWish& wish) {
  const TimeUs alone_us = std::max(wish.alone_us, kShortestIteration);
  const std::int64_t rounds = rounds_of(wish, alone_us);
  const TimeUs iteration_us = divide_rounded(alone_us, rounds);
  const std::int64_t rounds_between =
      std::max<std::int64_t>(1, divide_rounded(wish.checkpoint_every_us, iteration_us));
  IterationPlan plan;
  plan.iterations = rounds * wish.replicas;
  plan.checkpoint_iterations = rounds_between * wish.replicas;
  plan.checkpoint_us =
      std::min(wish.checkpoint_us, rounds_between * iteration_us / kCheckpointPart);
  // What checkpoints leave of the run, in equal parts.
  const Int128 parts = Int128{rounds} * plan.checkpoint_iterations;
  const Int128 left =
      Int128{alone_us} * plan.checkpoint_iterations - Int128{rounds} * plan.checkpoint_us;
  plan.compute_us = static_cast<TimeUs>((left + parts / 2) / parts);
  plan.alone_us = run_time(plan, rounds);
  return plan;
}

}  // namespace berth::presets
