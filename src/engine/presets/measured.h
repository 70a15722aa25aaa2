// Real arrivals, GPUs and durations of a trace, and published measurements for what it lacks;
// docs/workloads.md tells which part is measured and which is drawn.
#pragma once

#include <cstdint>

#include "engine/presets/settings.h"
#include "engine/workload.h"
#include "model/cluster.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth {

// Data-parallel training jobs, one replica a GPU. Jobs that cannot be used are added to `report`;
// an error if none can.
[[nodiscard]] Result<Workload> measured_workload(const trace::Trace& trace, const Cluster& cluster,
                                                 Sharing sharing, const PresetSettings& settings,
                                                 std::uint64_t seed, trace::RejectReport& report);

}  // namespace berth
