// One process an attempt at a time: starts its tasks, keeps their logs, ends them when it is told
// to, and writes down what came of them. It needs neither daemon nor launcher once it runs.
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/local/wire.h"

namespace berth::local {

// What the daemon sends a supervisor: to ask the tasks to leave, and to end them at once. With
// stop_token(key), as the process may have come to another attempt by then. SIGTERM of anybody else
// asks them to leave, too.
[[nodiscard]] int stop_signal();
[[nodiscard]] int kill_signal();
[[nodiscard]] int stop_token(std::string_view key);

enum class SupervisorEnd : std::uint8_t {
  kClean,  // all is written down and nothing is left: the process may supervise another attempt
  kUnclean,
};

// In a process whose only thread this is, with all signals blocked. Tells its reports on `socket`
// as long as there is somebody who reads them.
[[nodiscard]] SupervisorEnd run_supervisor(const LaunchRequest& request, int socket);

}  // namespace berth::local
