// From a job as its user wrote it to a job as policies see it, and back from places to processes.
//
// A worker with several GPUs, or of several cores, is as many tasks of the model, one a device.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "controller/slots.h"
#include "jobspec/job_spec.h"
#include "model/job.h"
#include "model/task_graph.h"
#include "model/view.h"

namespace berth {

// Ids for names that jobs bring.
class NameIds {
 public:
  [[nodiscard]] std::uint32_t id(std::string_view name);  // Id::kNone of ""

 private:
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

struct ModelledJob {
  Job job;          // its graph is not set
  TaskGraph graph;  // without tasks: none
};

class JobModel {
 public:
  // `slots` must outlive it.
  JobModel(const Slots& slots, std::uint32_t default_cpu_milli)
      : slots_(slots), default_cpu_milli_(default_cpu_milli) {}

  // Refused, in words for its user: a GPU type, a virtual cluster or an amount that no server has.
  [[nodiscard]] Status check(const JobSpec& spec) const;
  // Of a job that was checked. Instants are of the scheduler's clock.
  [[nodiscard]] ModelledJob model(const JobSpec& spec, std::string_view user, TimeUs submit_us,
                                  MaybeInt deadline_us);
  // The processes of an attempt: those workers of which all tasks have a place, in order.
  [[nodiscard]] std::vector<TaskLaunch> launches(const JobSpec& spec,
                                                 std::span<const TaskPlace> places) const;
  // Tasks of the model that one worker is.
  [[nodiscard]] std::uint32_t tasks_per_worker(const JobSpec& spec) const;
  // Cores of a worker that states none.
  [[nodiscard]] std::uint32_t cpu_milli(const JobSpec& spec) const;

 private:
  [[nodiscard]] GpuTypeMask types_of(const JobSpec& spec) const;
  // Thousandths of devices that a worker takes.
  [[nodiscard]] std::int64_t worker_milli(const JobSpec& spec) const;

  const Slots& slots_;
  std::uint32_t default_cpu_milli_;
  NameIds users_;
  NameIds models_;
};

}  // namespace berth
