// Training jobs for tests: random ones with everything that the engine knows, and a policy without
// sense that does everything a policy may do.
#pragma once

#include <memory>
#include <vector>

#include "engine/faults.h"
#include "engine/workload.h"
#include "policy/policy.h"
#include "support/workloads.h"

namespace berth::testing {

// 1-5 servers of 1-4 GPUs with cores, memory and links, some without limits; one or two GPU types.
[[nodiscard]] Cluster random_training_cluster(Rng& rng);

// 1-12 jobs of up to 4 replicas with chains, layers, parameter servers and rings; loads that
// overload now and then; checkpoints, costs, learning curves, deadlines and every stop option. Some
// jobs share devices.
[[nodiscard]] Workload random_training(Rng& rng, const Cluster& cluster);

// Failures and slow times within the first minutes; some servers never come back.
[[nodiscard]] std::vector<FaultEvent> random_faults(Rng& rng, const Cluster& cluster);

// Starts replicas of jobs wherever there is room, moves and copies tasks, drops copies, preempts
// jobs and replicas, stops jobs and changes stop options, all at random; by the view and the
// generator alone. `whole`: starts whole replicas only.
[[nodiscard]] std::unique_ptr<Policy> senseless_policy(bool whole);

// A cluster for arithmetic by hand: servers of these GPUs, links of so many bytes a second.
[[nodiscard]] Cluster servers_of(const std::vector<std::uint32_t>& gpus,
                                 std::int64_t link_bytes_per_s);

// A policy that does what a script says: at each instant these actions.
struct Step {
  TimeUs at_us = 0;
  std::vector<Action> actions;
};
[[nodiscard]] std::unique_ptr<Policy> scripted_policy(std::vector<Step> steps);

}  // namespace berth::testing
