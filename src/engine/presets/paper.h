// The workload of MLFS's experiments (CoNEXT 2020), as far as the paper tells it; docs/workloads.md
// lists every distribution with its source.
#pragma once

#include <cstdint>

#include "engine/presets/settings.h"
#include "engine/workload.h"
#include "model/cluster.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth {

// Arrivals and the distribution of run times from the trace, all else drawn with `seed`. Jobs that
// cannot be used are added to `report`; an error if none can.
[[nodiscard]] Result<Workload> paper_workload(const trace::Trace& trace, const Cluster& cluster,
                                              Sharing sharing, const PresetSettings& settings,
                                              std::uint64_t seed, trace::RejectReport& report);

}  // namespace berth
