// What runs jobs for real. The controller says which attempt is to run where; a backend starts it,
// stops it, and finds it again after a crash of its own process.
//
// An attempt is one run of one job, with all its tasks: started together, ended together. Its key
// is used once for ever, so that an attempt can be started at most once, whatever crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/cluster.h"

namespace berth {

struct Credentials {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// A task of an attempt. Its environment has RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
// MASTER_ADDR, MASTER_PORT and CUDA_VISIBLE_DEVICES already.
struct TaskLaunch {
  std::uint32_t task = 0;  // index within the job
  ServerId server;
  std::vector<DeviceId> devices;  // of the cluster that the backend described
  std::uint32_t cpu_milli = 0;    // 0: no limit
  std::uint32_t memory_mib = 0;   // 0: no limit
  std::vector<std::pair<std::string, std::string>> environment;  // further to the attempt's
};

struct AttemptLaunch {
  std::string key;  // [0-9a-z.-]+, at most 64 bytes; names the attempt's folder
  Credentials user;
  std::vector<std::string> command;
  std::string directory;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<TaskLaunch> tasks;
  // How it is asked to leave (jobspec/job_spec.h).
  int checkpoint_signal = 0;  // 0: none
  TimeUs grace_us = 0;
  TimeUs term_grace_us = 0;
  std::int64_t log_limit_bytes = 0;  // of each stream of each task that is kept
};

struct TaskEnd {
  std::uint32_t task = 0;
  int exit_code = -1;  // -1: did not exit by itself
  int signal = 0;      // that ended it; 0: none
  bool out_of_memory = false;
  std::int64_t max_rss_bytes = -1;  // -1: not known
  TimeUs cpu_us = -1;               // -1: not known
};

enum class AttemptEndKind : std::uint8_t {
  kExited,      // every task has ended by itself, or was ended because another one failed
  kStopped,     // ended after stop()
  kNotStarted,  // nothing of it ever ran (`why`)
  kLost,        // it ran, and what came of it is not known (`why`)
};

struct AttemptEnd {
  AttemptEndKind kind = AttemptEndKind::kLost;
  // Of kNotStarted: the job's own command, folder or user is wrong, so it never will.
  bool own_fault = false;
  std::string why;              // one line for people; empty where the tasks say all
  std::vector<TaskEnd> tasks;   // of kExited and kStopped
  TimeUs started_unix_us = -1;  // -1: did not, or not known
  TimeUs ended_unix_us = -1;
  // Every task ended with exit code 0.
  [[nodiscard]] bool success() const;
};

// A process whose identity survives a restart of the backend's own.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;            // of the machine; another one: the process is gone
  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// What a backend tells; called from Backend::poll() alone.
struct BackendEvents {
  // It runs under this supervisor.
  std::function<void(const std::string& key, const ProcessId& supervisor)> started;
  std::function<void(const std::string& key, const AttemptEnd& end)> ended;
  // A device, or what others use on it, has changed (free_devices()).
  std::function<void()> devices_changed;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // The servers and devices there are, the same ones until the backend ends.
  [[nodiscard]] virtual const Cluster& cluster() const = 0;
  // By DeviceId: false where it is broken or others use it.
  [[nodiscard]] virtual std::vector<bool> usable_devices() const = 0;

  // Starts an attempt; returns at once, what comes of it is told later, exactly one `ended` a key.
  // An error: this attempt will never run.
  [[nodiscard]] virtual Status start(const AttemptLaunch& launch) = 0;
  // Asks it to leave: signal, grace, SIGTERM, grace, SIGKILL; `now`: SIGKILL at once. Again, or of
  // a key that has ended: nothing happens.
  virtual void stop(const std::string& key, bool now) = 0;
  // After a restart of the caller: takes an attempt over that was to be started and of which no end
  // was told. `ended` (and `started`, if it runs) is told as for one of start(): kNotStarted if it
  // never began, and then it never will.
  virtual void adopt(const std::string& key, const std::optional<ProcessId>& supervisor) = 0;
  // The caller has stored the attempt's end: what was kept for adopt() may go; logs stay.
  virtual void forget(const std::string& key) = 0;

  // Readable when poll() has something to tell; for an event loop.
  [[nodiscard]] virtual int event_fd() const = 0;
  virtual void poll(const BackendEvents& events) = 0;

  // The folder of an attempt: TASK.out and TASK.err (and .1, the older part, where a log went over
  // its limit) and TASK.progress, which the task may append reports to.
  [[nodiscard]] virtual std::string folder(const std::string& key) const = 0;
};

}  // namespace berth
