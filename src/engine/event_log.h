// What happened in a run, in order: a hash of it always, the text of it on request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "model/view.h"

namespace berth {

enum class EventKind : std::uint8_t {
  kArrive,
  kStart,
  kPreempt,
  kFinish,
  kStop,
  kServerDown,
  kServerUp,
  kGrow,    // further tasks of a running job start
  kShrink,  // some tasks of a running job leave
  kMove,    // tasks of a running job change their places
  kEvict,   // a failure took the last replica: the job is pending again
  kDeviceDown,
  kDeviceUp,
  kDeviceSpeed,
  kCopy,      // a task of a running job got a copy
  kDropCopy,  // a copy left, while its job goes on as it was
  kTakeOver,  // a failure took a task, and a copy goes on as that task
};

[[nodiscard]] std::string_view event_name(EventKind kind);

// 64 bits over (time, kind, id, places) of every event, order included.
class EventHash {
 public:
  void add(std::uint64_t word) { state_ = mix64(state_ ^ (word + 0x9E3779B97F4A7C15ULL)); }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

class EventLog {
 public:
  virtual ~EventLog() = default;

  // `places`: of every task of the job after an event after which it runs, in task order (an
  // invalid server: not placed); else empty. `copies`: those that its tasks have then.
  void record(TimeUs at_us, EventKind kind, std::uint32_t id,
              std::span<const Placement> places = {}, std::span<const TaskCopy> copies = {});

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string hash_hex() const;

  // Called for each event; by default nothing.
  virtual void write(TimeUs at_us, EventKind kind, std::uint32_t id,
                     std::span<const Placement> places, std::span<const TaskCopy> copies);

 protected:
  bool wants_text_ = false;

 private:
  EventHash hash_;
  std::uint64_t count_ = 0;
};

// CSV "time_us,event,id,devices": id is a JobId, or the ServerId or DeviceId of a fault; devices
// are DeviceIds of the tasks in order, joined by '+': "-" for a task that is not placed, "s3" for
// one without a GPU on server 3; then "+2=7" for a copy of task 2 on device 7. Kept in memory.
class TextEventLog final : public EventLog {
 public:
  TextEventLog() { wants_text_ = true; }
  void write(TimeUs at_us, EventKind kind, std::uint32_t id, std::span<const Placement> places,
             std::span<const TaskCopy> copies) override;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_ = "time_us,event,id,devices\n";
};

// Every event to each of several logs, which must outlive it.
class EventTee final : public EventLog {
 public:
  void add(EventLog& log) {
    logs_.push_back(&log);
    wants_text_ = true;
  }
  void write(TimeUs at_us, EventKind kind, std::uint32_t id, std::span<const Placement> places,
             std::span<const TaskCopy> copies) override {
    for (EventLog* const log : logs_) log->record(at_us, kind, id, places, copies);
  }

 private:
  std::vector<EventLog*> logs_;
};

}  // namespace berth
