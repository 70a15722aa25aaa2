// Submission, start and end of a job, as logs of Slurm-like schedulers have them in one row.
#pragma once

#include <cstddef>

#include "trace/table.h"
#include "trace/trace.h"

namespace berth::trace {

struct LifetimeColumns {
  std::size_t submit;
  std::size_t start;
  std::size_t end;
  std::size_t state;
  std::size_t duration;                     // checked, not used
  bool duration_may_contain_queue = false;  // then end - submit is right in it too
};

// Fills arrival_us (Unix time), duration_us = end - start, queue_us = start - submit and status.
// False: the row was rejected. Three reasons are kept apart: never started, still running, damaged.
// A start before the submission, a duration column that says otherwise and an unknown state are
// warnings.
[[nodiscard]] bool read_lifetime(Table& table, const LifetimeColumns& columns, TraceJob& job);

}  // namespace berth::trace
