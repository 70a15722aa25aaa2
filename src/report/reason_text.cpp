#include "report/reason_text.h"

#include <fmt/format.h>

namespace berth {
namespace {

std::string gpus(std::int64_t milli) {
  if (milli == 1000) return "1 GPU";
  return fmt::format("{} GPUs", static_cast<double>(milli) / 1000.0);
}

}  // namespace

bool reason_is_never(ReasonCode code) {
  return code == ReasonCode::kNeverFits || code == ReasonCode::kNeverGpuType;
}

std::string reason_text(const Reason& reason) {
  switch (reason.code) {
    case ReasonCode::kNone:
      return "runs, or has ended";
    case ReasonCode::kNotConsidered:
      return "arrived after the last decision";
    case ReasonCode::kNeverFits:
      return fmt::format("asks for {}, the cluster has {} that it accepts", gpus(reason.asked),
                         gpus(reason.available));
    case ReasonCode::kNeverGpuType:
      return "no server has a GPU type that it accepts";
    case ReasonCode::kNoFreeDevice:
      return fmt::format("asks for {}, {} were free when it was last looked at", gpus(reason.asked),
                         gpus(reason.available));
    case ReasonCode::kFragmented:
      return fmt::format("asks for {}; {} are free, but scattered", gpus(reason.asked),
                         gpus(reason.available));
    case ReasonCode::kNoFreeResource:
      return "too little of a resource is free";
    case ReasonCode::kServersDown:
      return "waits for servers that are down";
    case ReasonCode::kBehindHead:
      return "waits behind the head of its queue";
    case ReasonCode::kBehindJob:
      return fmt::format("waits behind job {}", reason.subject);
    case ReasonCode::kReserved:
      return fmt::format("devices are kept for job {}", reason.subject);
    case ReasonCode::kQuota:
      return "its virtual cluster or user is at its limit";
    case ReasonCode::kPreempted:
      return reason.subject == JobId::kNone ? std::string("gave way to other jobs")
                                            : fmt::format("gave way to job {}", reason.subject);
    case ReasonCode::kEvicted:
      return "a server or a device under it failed";
    case ReasonCode::kOrderedLater:
      return "jobs that go before it take the devices";
    case ReasonCode::kOverload:
      return "its server was overloaded";
    case ReasonCode::kDependency:
      return fmt::format("waits for job {} to end", reason.subject);
    case ReasonCode::kHeld:
      return "held";
    case ReasonCode::kLoadControl:
      return "the system is overloaded and admits no more";
  }
  return "unknown";
}

}  // namespace berth
