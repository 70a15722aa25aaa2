// A small process that forks supervisors, so that a start costs a fork of it and not of the daemon;
// and not even that where one has just finished an attempt, which it then gives the next one. It
// keeps nothing: what it was asked for when it dies is settled by the claims of the attempts.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace berth::local {

// If the program was called as a launcher, runs it and returns the exit status; to be called before
// anything else in main().
[[nodiscard]] std::optional<int> run_if_launcher(int argc, char** argv);

// Serves requests on `socket` until its other end is closed.
[[nodiscard]] int run_launcher(int socket);

struct LauncherProcess {
  pid_t pid = -1;
  Fd pidfd;
  Fd socket;
};
[[nodiscard]] Result<LauncherProcess> spawn_launcher(const std::string& executable);

}  // namespace berth::local
