// Runs jobs as processes of this machine.
//
//   daemon --socket--> launcher --fork--> supervisor (one an attempt) --fork--> tasks
//
// The daemon watches supervisors; they outlive it and the launcher, and are found again by adopt().
// Whoever makes attempts/KEY/claim first owns the start of the attempt (attempt_folder.h).
//
// Tasks never outlive their supervisor: the kernel ends their main processes with it, the daemon
// what those have left.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "base/time.h"
#include "probe/nvml.h"

namespace berth {

struct LocalOptions {
  // Has attempts/ for the folders of attempts, which is made. Jobs of other users reach their own
  // files below it only if they may go through it: mode 0711 where the daemon is root.
  std::string data_folder;
  // Of this program: is started as `EXECUTABLE __launcher`, for run_if_launcher() (launcher.h).
  std::string executable = "/proc/self/exe";
  std::optional<Cluster> cluster;     // nothing: this machine
  bool allow_root = false;            // jobs of root may run
  bool limits = true;                 // hold tasks within the CPUs and memory that they asked for
  std::string nvml = Nvml::kLibrary;  // "": GPUs are not looked at
  TimeUs device_poll_us = 10 * kUsPerS;  // how often
};

class LocalBackend : public Backend {
 public:
  // What holds tasks within their CPUs and memory, one line each, for people.
  [[nodiscard]] virtual std::vector<std::string> limits() const = 0;
};

// Errors: the folder cannot be written, the launcher does not start. The soft limit on open files
// of this process is raised to the hard one; jobs get the one that was.
[[nodiscard]] Result<std::unique_ptr<LocalBackend>> make_local_backend(LocalOptions options);

}  // namespace berth
