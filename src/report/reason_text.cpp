#include "report/reason_text.h"

#include <fmt/format.h>

namespace berth {
namespace {

std::string amount(std::int64_t milli, std::string_view device) {
  if (milli == 1000) return fmt::format("1 {}", device);
  return fmt::format("{} {}s", static_cast<double>(milli) / 1000.0, device);
}

}  // namespace

bool reason_is_never(ReasonCode code) {
  return code == ReasonCode::kNeverFits || code == ReasonCode::kNeverGpuType;
}

std::string job_by_number(JobId job) {
  return fmt::format("job {}", job.value);
}

std::string reason_text(const Reason& reason, const JobNamer& name, JobId head,
                        std::string_view device) {
  const auto gpus = [&](std::int64_t milli) { return amount(milli, device); };
  const JobId subject{reason.subject};
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
      return head.valid() ? fmt::format("waits behind {}, the head of its queue", name(head))
                          : "waits behind the head of its queue";
    case ReasonCode::kBehindJob:
      return "waits behind " + name(subject);
    case ReasonCode::kReserved:
      return "devices are kept for " + name(subject);
    case ReasonCode::kQuota:
      return "its virtual cluster or user is at its limit";
    case ReasonCode::kPreempted:
      return "gave way to " + (subject.valid() ? name(subject) : "other jobs");
    case ReasonCode::kEvicted:
      return "a server or a device under it failed";
    case ReasonCode::kOrderedLater:
      return "jobs that go before it take the devices";
    case ReasonCode::kOverload:
      return "its server was overloaded";
    case ReasonCode::kDependency:
      return fmt::format("waits for {} to end", name(subject));
    case ReasonCode::kHeld:
      return "held";
    case ReasonCode::kLoadControl:
      return "the system is overloaded and admits no more";
  }
  return "unknown";
}

}  // namespace berth
