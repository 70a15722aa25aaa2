// The columns of Berth's own trace format, for its reader and its writer. docs/trace-format.md
// describes them for people.
#pragma once

#include <array>

#include "trace/table.h"

namespace berth::trace {

enum BerthColumn : std::size_t {
  kColId,
  kColArrival,
  kColSubmitted,
  kColDuration,
  kColQueue,
  kColGpus,
  kColGpuKind,
  kColGpuType,
  kColNodes,
  kColCpus,
  kColMemory,
  kColTimeLimit,
  kColDeadline,
  kColIterations,
  kColSlo,
  kColUser,
  kColVc,
  kColModel,
  kColPriority,
  kColWeight,
  kColAttempts,
  kColStatus,
  kColName,
  kBerthColumnCount
};

inline constexpr std::array<ColumnSpec, kBerthColumnCount> kBerthColumns{{
    {"id", false, "job_id"},   {"arrival_s", false, ""},  {"submitted_utc", false, ""},
    {"duration_s", false, ""}, {"queue_s", false, ""},    {"gpus", true, ""},
    {"gpu_kind", false, ""},   {"gpu_type", false, ""},   {"nodes", false, ""},
    {"cpus", false, ""},       {"memory_mib", false, ""}, {"time_limit_s", false, ""},
    {"deadline_s", false, ""}, {"iterations", false, ""}, {"slo", false, ""},
    {"user", false, ""},       {"vc", false, ""},         {"model", false, ""},
    {"priority", false, ""},   {"weight", false, ""},     {"attempts", false, ""},
    {"status", false, ""},     {"name", false, ""},
}};
inline constexpr TableSpec kBerthSpec{.format = "berth", .columns = kBerthColumns};

inline constexpr std::string_view kGpuKindMig = "mig";
inline constexpr std::string_view kGpuKindShard = "shard";

}  // namespace berth::trace
