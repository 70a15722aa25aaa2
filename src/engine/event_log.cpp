#include "engine/event_log.h"

#include <fmt/format.h>

#include <iterator>

namespace berth {

std::string_view event_name(EventKind kind) {
  switch (kind) {
    case EventKind::kArrive:
      return "arrive";
    case EventKind::kStart:
      return "start";
    case EventKind::kPreempt:
      return "preempt";
    case EventKind::kFinish:
      return "finish";
    case EventKind::kStop:
      return "stop";
    case EventKind::kServerDown:
      return "server-down";
    case EventKind::kServerUp:
      return "server-up";
    case EventKind::kGrow:
      return "grow";
    case EventKind::kShrink:
      return "shrink";
    case EventKind::kMove:
      return "move";
    case EventKind::kEvict:
      return "evict";
    case EventKind::kDeviceDown:
      return "device-down";
    case EventKind::kDeviceUp:
      return "device-up";
    case EventKind::kDeviceSpeed:
      return "device-speed";
    case EventKind::kCopy:
      return "copy";
    case EventKind::kDropCopy:
      return "drop-copy";
    case EventKind::kTakeOver:
      return "take-over";
  }
  return "unknown";
}

void EventLog::record(TimeUs at_us, EventKind kind, std::uint32_t id,
                      std::span<const Placement> places, std::span<const TaskCopy> copies) {
  ++count_;
  hash_.add(static_cast<std::uint64_t>(at_us));
  hash_.add(static_cast<std::uint64_t>(kind) << 32 | id);
  for (const Placement& place : places) {
    hash_.add(static_cast<std::uint64_t>(place.server.value) << 32 | place.device.value);
  }
  for (const TaskCopy& copy : copies) {
    hash_.add(copy.task);
    hash_.add(static_cast<std::uint64_t>(copy.at.server.value) << 32 | copy.at.device.value);
  }
  if (wants_text_) write(at_us, kind, id, places, copies);
}

void EventLog::write(TimeUs /*at_us*/, EventKind /*kind*/, std::uint32_t /*id*/,
                     std::span<const Placement> /*places*/, std::span<const TaskCopy> /*copies*/) {}

std::string EventLog::hash_hex() const {
  return fmt::format("{:016x}", hash_.value());
}

void TextEventLog::write(TimeUs at_us, EventKind kind, std::uint32_t id,
                         std::span<const Placement> places, std::span<const TaskCopy> copies) {
  fmt::format_to(std::back_inserter(text_), "{},{},{},", at_us, event_name(kind), id);
  bool first = true;
  for (const Placement& place : places) {
    if (!first) text_ += '+';
    first = false;
    if (!place.server.valid()) {
      text_ += '-';
    } else if (place.device.valid()) {
      fmt::format_to(std::back_inserter(text_), "{}", place.device.value);
    } else {
      fmt::format_to(std::back_inserter(text_), "s{}", place.server.value);
    }
  }
  for (const TaskCopy& copy : copies) {
    fmt::format_to(std::back_inserter(text_), "+{}={}", copy.task, copy.at.device.value);
  }
  text_ += '\n';
}

}  // namespace berth
