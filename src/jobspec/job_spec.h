// A real job as its user wrote it: what to run, what it needs, what it is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/job.h"

namespace berth {

// How a job is asked to leave its devices: `signal` (to save its state), `grace_us` later SIGTERM,
// kTermGraceUs later SIGKILL.
struct CheckpointSpec {
  std::string signal = "USR1";          // "USR1", "USR2", "INT", "TERM", "HUP" or "none"
  TimeUs grace_us = 30 * kUsPerS;       // from the signal to SIGTERM; 0: no signal, SIGTERM at once
  TimeUs term_grace_us = 10 * kUsPerS;  // from SIGTERM to SIGKILL
  friend bool operator==(const CheckpointSpec&, const CheckpointSpec&) = default;
};

struct JobSpec {
  std::string name;                  // for people; UTF-8, not unique
  std::vector<std::string> command;  // run as it stands, never by a shell
  std::string directory;             // absolute
  std::vector<std::pair<std::string, std::string>> environment;  // in order, names unique

  // Workers are replicas * partitions; partitions split the model (MLFS, section on partitions).
  std::uint32_t replicas = 1;
  std::uint32_t partitions = 1;
  bool parameter_server = false;  // a further task, the last, without a GPU
  bool elastic = false;  // may run with fewer replicas, restarted when their number changes
  // Edges (from, to) among the partitions of a replica; empty: a chain.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> graph;

  // Of each worker.
  std::uint32_t gpu_milli = 0;  // thousandths of a GPU; above 1000 it is a whole number of GPUs
  std::uint32_t gpu_memory_mib = 0;    // 0: not stated
  std::vector<std::string> gpu_types;  // empty: any
  std::uint32_t cpu_milli = 0;         // 0: not stated (the daemon's default holds)
  std::uint32_t memory_mib = 0;        // 0: not stated

  std::string model;            // kind of model, what makes two jobs alike; "" not stated
  std::string virtual_cluster;  // "" not stated
  std::int32_t priority = 0;
  std::int32_t urgency = 0;                 // 1..10 (MLFS, eq. 2); 0: not stated
  std::optional<TimeUs> deadline_unix_us;   // instant of the wall clock
  std::optional<TimeUs> deadline_after_us;  // the same, counted from the submission
  std::optional<TimeUs> time_limit_us;      // of run time, all runs together
  std::optional<std::int64_t> max_iterations;
  std::int32_t required_accuracy_ppm = -1;  // -1: not stated
  StopOption stop = StopOption::kIterations;
  StopOption stop_at_worst = StopOption::kIterations;
  std::int32_t interference_tolerance_ppm = -1;  // most slowdown by neighbours; -1: not stated

  CheckpointSpec checkpoint;
  std::uint32_t restarts = 0;  // how often it is run again after it failed by itself
  std::string tensorboard;     // folder of event files, relative to `directory`; "" none
  std::int64_t log_limit_bytes = 64 << 20;  // of each stream of each task that is kept

  [[nodiscard]] std::uint32_t tasks() const {
    return replicas * partitions + (parameter_server ? 1 : 0);
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

}  // namespace berth
