// Schedules for arithmetic by hand: when each job ran, in seconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "support/workloads.h"

namespace berth::testing {

// Runs the policy with these options, every invariant checked, and says of each job when it ran:
// "0-2 10-18" is two runs. A run that has not ended has no end: "5-".
[[nodiscard]] std::vector<std::string> schedule(const Cluster& cluster, const Workload& workload,
                                                std::string_view policy,
                                                std::vector<PolicyOption> options = {},
                                                std::string_view predict = "oracle");

}  // namespace berth::testing
