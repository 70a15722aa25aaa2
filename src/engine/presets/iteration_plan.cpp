#include "engine/presets/iteration_plan.h"

#include <algorithm>

namespace berth::presets {
namespace {

constexpr std::int64_t divide_rounded(std::int64_t a, std::int64_t b) {
  return (a + b / 2) / b;
}

// Shorter than this nothing can be divided among the tasks of a replica.
constexpr TimeUs kShortestIteration = 1000;
// At most this part of an iteration goes into checkpoints.
constexpr std::int64_t kCheckpointPart = 10;

}  // namespace

IterationPlan plan_iterations(const IterationWish& wish) {
  const TimeUs alone_us = std::max(wish.alone_us, kShortestIteration);
  const std::int64_t fewest = wish.most_us == kNever ? 1 : (alone_us - 1) / wish.most_us + 1;
  const std::int64_t most =
      std::max(fewest, alone_us / std::max(wish.least_us, kShortestIteration));
  IterationPlan plan;
  plan.rounds =
      std::clamp(divide_rounded(alone_us, std::max<TimeUs>(wish.iteration_us, 1)), fewest, most);
  plan.rounds = std::min(plan.rounds, wish.most_rounds);
  const TimeUs iteration_us = divide_rounded(alone_us, plan.rounds);
  plan.checkpoint_iterations =
      std::max<std::int64_t>(1, divide_rounded(wish.checkpoint_every_us, iteration_us));
  const TimeUs an_iteration =
      std::min(divide_rounded(wish.checkpoint_us, plan.checkpoint_iterations),
               iteration_us / kCheckpointPart);
  plan.checkpoint_us = an_iteration * plan.checkpoint_iterations;
  plan.compute_us = iteration_us - an_iteration;
  return plan;
}

}  // namespace berth::presets
