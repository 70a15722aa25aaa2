// When devices come free: the predicted ends of running jobs, by GPU type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ordered_blocks.h"
#include "model/view.h"

namespace berth {

class EndTimes {
 public:
  struct Release {
    TimeUs at_us = kNever;   // kNever: not by the ends of running jobs
    std::int64_t milli = 0;  // free of these types then, all releases at that instant included
  };

  void reset(const Cluster& cluster);
  // The job runs there and will end then; replaces what was known.
  void set(const ClusterView& view, JobId id, std::span<const Placement> places, TimeUs end_us);
  void remove(JobId id);

  // A job whose predicted end has passed, or an invalid id.
  [[nodiscard]] JobId overdue(TimeUs now_us) const;
  // The first instant at which `milli` thousandths are free, `free_milli` of them now.
  [[nodiscard]] Release when_free(GpuTypeMask types, std::int64_t milli,
                                  std::int64_t free_milli) const;

 private:
  struct Held {
    TimeUs end_us = kNever;  // kNever: not known here
    std::uint64_t types = 0;
  };

  std::vector<OrderedBlocks> by_type_;  // weight: thousandths released
  std::vector<Held> held_;              // by JobId
};

}  // namespace berth
