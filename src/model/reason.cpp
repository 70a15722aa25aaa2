#include "model/reason.h"

namespace berth {

std::string_view reason_name(ReasonCode code) {
  switch (code) {
    case ReasonCode::kNone:
      return "none";
    case ReasonCode::kNotConsidered:
      return "not-considered";
    case ReasonCode::kNeverFits:
      return "never";
    case ReasonCode::kNeverGpuType:
      return "never-gpu-type";
    case ReasonCode::kNoFreeDevice:
      return "no-free-device";
    case ReasonCode::kFragmented:
      return "fragmented";
    case ReasonCode::kNoFreeResource:
      return "no-free-resource";
    case ReasonCode::kServersDown:
      return "servers-down";
    case ReasonCode::kBehindHead:
      return "behind-head";
    case ReasonCode::kBehindJob:
      return "behind-job";
    case ReasonCode::kReserved:
      return "reserved";
    case ReasonCode::kQuota:
      return "quota";
    case ReasonCode::kPreempted:
      return "preempted";
    case ReasonCode::kEvicted:
      return "evicted";
    case ReasonCode::kOrderedLater:
      return "ordered-later";
    case ReasonCode::kOverload:
      return "overload";
    case ReasonCode::kDependency:
      return "dependency";
    case ReasonCode::kHeld:
      return "held";
    case ReasonCode::kLoadControl:
      return "load-control";
  }
  return "unknown";
}

}  // namespace berth
