// Puts the jobs that a reader finds into the trace: keeps their texts, and rejects an id that was
// there before.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/reject.h"
#include "trace/trace.h"

namespace berth::trace {

class Collector {
 public:
  // `row_hint`: Input::row_hint(). Growing by copies would touch three times the memory.
  Collector(Trace& trace, RejectReport& report, std::size_t row_hint = 0);

  // `job` with this id, from this line; job.arrival_us is as the input writes it. False: rejected
  // as a duplicate, with both lines.
  bool add(const TraceJob& job, std::string_view id, std::uint64_t line);

  // The job that has this id, or nullptr; to be changed only until the next add().
  [[nodiscard]] TraceJob* find(std::string_view id);

 private:
  // Open addressing over indices into trace_->jobs: no allocation per job.
  struct Slot {
    std::uint32_t job_plus_1 = 0;
    std::uint32_t hash = 0;
  };
  [[nodiscard]] Slot& slot_of(std::string_view id, std::uint32_t hash);
  void grow();

  Trace* trace_;
  RejectReport* report_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> lines_;  // of each job, capped
};

}  // namespace berth::trace
