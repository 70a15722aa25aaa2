// Puts the jobs that a reader finds into the trace: keeps their texts, and rejects an id that was
// there before, and sums beyond what Berth's own format can say (values.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/input.h"
#include "trace/reject.h"
#include "trace/trace.h"

namespace berth::trace {

class Collector {
 public:
  // `input`: whose progress foretells how many jobs come; nullptr: no idea.
  Collector(Trace& trace, RejectReport& report, const Input* input);

  // `job` with this id, from this line; job.arrival_us is as the input writes it. False: rejected
  // as a duplicate, with both lines, or as out of range.
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
  void grow_slots();
  void make_room();  // in the jobs

  Trace* trace_;
  RejectReport* report_;
  const Input* input_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> lines_;  // of each job, capped
};

}  // namespace berth::trace
