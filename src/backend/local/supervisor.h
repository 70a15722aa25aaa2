// One process an attempt: starts its tasks, keeps their logs, ends them when it is told to, and
// writes down what came of them. It needs neither daemon nor launcher once it runs.
#pragma once

#include "backend/local/wire.h"

namespace berth::local {

// What the daemon sends a supervisor: to ask the tasks to leave, and to end them at once.
inline constexpr int kStopSignal = 15;  // SIGTERM
inline constexpr int kKillSignal = 3;   // SIGQUIT

// In a process of its own, whose only thread this is, with all signals blocked. Tells its reports
// on `socket` as long as there is somebody who reads them. Returns the exit status.
[[nodiscard]] int run_supervisor(const LaunchRequest& request, Fd socket);

}  // namespace berth::local
