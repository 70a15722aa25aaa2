// The records as columns: what is bound and read in which order, in one place.
#pragma once

#include "store/sql.h"
#include "store/store.h"

namespace berth::sql {

// Set when it is added, in this order ...
inline constexpr const char* kFixedColumns = "uid, token, submit_unix_us, submit_us";
// ... and these with every update.
inline constexpr const char* kChangingColumns =
    "gid, user, name, hold, cancelled, message, end_unix_us, stop, attempts, failures, losses, "
    "iterations, status, preemptions, evictions, tasks_placed, first_start_us, last_start_us, "
    "last_stop_us, last_move_us, attained_us";
inline constexpr int kFixedColumnCount = 4;
inline constexpr int kChangingColumnCount = 21;

void bind_fixed(Use& use, const JobRecord& job);
void bind_changing(Use& use, const JobRecord& job);
// number, the fixed ones, the changing ones, the specification.
[[nodiscard]] JobRecord read_job(Use& use);

inline constexpr const char* kAttemptColumns =
    "job, attempt, phase, places_json, stop_reason, pid, start_ticks, boot_id, intent_unix_us, "
    "start_unix_us, end_unix_us, end_json";
inline constexpr int kAttemptColumnCount = 12;

void bind_attempt(Use& use, const AttemptRecord& attempt);
[[nodiscard]] AttemptRecord read_attempt(Use& use);

}  // namespace berth::sql
