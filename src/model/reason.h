// Why a job is not running: one dominant reason as data. Words are made at the edge.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace berth {

enum class ReasonCode : std::uint8_t {
  kNone,            // runs, or has ended
  kNotConsidered,   // arrived after the last decision
  kNeverFits,       // no state of this cluster can hold it (detail: asked and present)
  kNeverGpuType,    // no server has a GPU type that it accepts
  kNoFreeDevice,    // too few free devices of the types it accepts
  kFragmented,      // enough is free in all, but not where one task or replica can use it
  kNoFreeResource,  // CPU, memory or another resource (detail: which)
  kServersDown,     // would fit if the servers that are down came back
  kBehindHead,      // the head of its queue goes first (subject: slot of Plan::heads)
  kBehindJob,       // that job goes first (subject: job)
  kReserved,        // free devices are kept for a job with a reservation (subject: job)
  kQuota,           // its virtual cluster or user is at its limit
  kPreempted,       // gave way to a job that goes before it (subject: job)
  kEvicted,         // a server or device under it failed
  kOrderedLater,    // the policy gave what there is to jobs of higher rank
  kOverload,        // its server was overloaded
  kDependency,      // waits for another job's end (subject: job)
  kHeld,            // by its user or an operator
  kLoadControl,     // the system is overloaded and admits no more
};

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::uint8_t resource = 0;             // Resource, for kNoFreeResource
  std::uint32_t subject = JobId::kNone;  // a job or a slot, as the code says
  std::int64_t asked = 0;                // in the unit of what is short (GPUs: thousandths)
  std::int64_t available = 0;
  friend bool operator==(const Reason&, const Reason&) = default;
};

// "no-free-device": the name used in logs and JSON.
[[nodiscard]] std::string_view reason_name(ReasonCode code);

}  // namespace berth
