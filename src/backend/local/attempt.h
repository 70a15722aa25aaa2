// An attempt as the daemon sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/local/attempt_folder.h"
#include "base/fd.h"

namespace berth::local {

enum class AttemptState : std::uint8_t {
  kQueued,    // its request waits for the launcher
  kSent,      // the launcher has it, or had it when it died
  kWatched,   // its supervisor is known and lives
  kUnclear,   // the folder cannot be read or written just now: it is tried again
  kClearing,  // its supervisor is gone; what is left of its tasks is being killed
};

enum class StopWish : std::uint8_t { kNone, kGently, kNow };

struct Attempt {
  std::string key;
  AttemptState state = AttemptState::kQueued;
  std::string request;  // encoded, until it is sent
  StopWish stop = StopWish::kNone;
  std::optional<ProcessId> supervisor;
  Fd process;               // of its supervisor
  std::uint64_t watch = 0;  // its number in the event loop
  bool runs = false;        // all tasks were seen to run
  bool told_started = false;
  std::vector<std::vector<std::uint32_t>> pins;  // CPUs, by task
  std::vector<TaskProcess> tasks;                // of kClearing
  int quiet_looks = 0;                           // of kClearing: that found nothing, in a row
};

// Checks what can be checked before anything is started: an error, and it can never run.
[[nodiscard]] Status check_launch(const AttemptLaunch& launch, const Cluster& cluster,
                                  bool allow_root);

}  // namespace berth::local
