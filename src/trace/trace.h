// A trace in memory: what happened on some cluster, in one shape for every format. All that a
// format does not say stays unknown; nothing is guessed here (engine/workload.h turns a trace into
// jobs).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"
#include "base/string_pool.h"
#include "base/time.h"

namespace berth::trace {

enum class EndStatus : std::uint8_t {
  kUnknown,
  kCompleted,
  kFailed,
  kCancelled,  // killed by its user or an operator
  kTimeout,    // counted as failed
  kNodeFail,   // counted as failed
  kSuspended,
};

struct TraceJob {
  std::string_view id;  // as the trace writes it; in Trace::strings
  std::string_view name;
  TimeUs arrival_us = 0;  // after Trace::zero_us; while reading, as the input writes it
  MaybeInt duration_us;   // run time, queueing excluded
  MaybeInt queue_us;      // recorded wait before the first start
  MaybeInt gpu_milli;     // all GPUs of the job, in thousandths; 0: a CPU job
  MaybeInt nodes;
  MaybeInt cpu_milli;   // of the whole job
  MaybeInt memory_mib;  // main memory of the whole job
  MaybeInt time_limit_us;
  MaybeInt deadline_us;  // after arrival
  MaybeInt iterations;
  MaybeInt slo_milli;                            // Gavel: deadline as a multiple of the duration
  std::uint32_t user = NameTable::kNoName;       // in Trace::users
  std::uint32_t vc = NameTable::kNoName;         // in Trace::vcs
  std::uint32_t model = NameTable::kNoName;      // in Trace::models
  std::uint32_t gpu_types = NameTable::kNoName;  // in Trace::gpu_types: "V100", or "P100|V100"
  std::int32_t priority = 0;
  std::int32_t weight_milli = 1000;
  std::uint32_t attempts = 1;  // retries and requeues that duration_us contains
  EndStatus status = EndStatus::kUnknown;
  bool mig_slice = false;  // gpu_milli counts slices, not whole GPUs
  bool shards = false;     // gpu_milli counts shares of a shared GPU
};

struct Trace {
  std::string format;              // name of the reader: "philly-csv"
  std::string source;              // path
  TimeUs zero_us = 0;              // the first arrival, as the input writes it
  bool zero_is_unix_time = false;  // else it counts from a zero of the trace's own
  StringPool strings;
  NameTable users;
  NameTable vcs;
  NameTable models;
  NameTable gpu_types;
  std::vector<TraceJob> jobs;  // by arrival, ties in the order of the input
};

}  // namespace berth::trace
