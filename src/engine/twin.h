// The slow twin of the simulator: it keeps the jobs' facts and nothing else, looks at every job to
// find the next instant, and builds every array of the view anew each round. It shares no
// state-keeping code with the fast engine, and must write the same event log.
#pragma once

#include "base/result.h"
#include "engine/event_log.h"
#include "engine/workload.h"
#include "policy/policy.h"

namespace berth {

[[nodiscard]] Status simulate_slowly(const Cluster& cluster, const Workload& workload,
                                     Policy& policy, const Predictors& predictors,
                                     std::uint64_t seed, EventLog& log);

}  // namespace berth
