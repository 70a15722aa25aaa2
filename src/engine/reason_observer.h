// Who wants to know why jobs wait while a run goes on: told of what policies say, when they say it.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/time.h"
#include "model/plan.h"
#include "model/reason.h"
#include "model/view.h"

namespace berth {

class ReasonObserver {
 public:
  ReasonObserver() = default;
  ReasonObserver(const ReasonObserver&) = delete;
  ReasonObserver& operator=(const ReasonObserver&) = delete;
  virtual ~ReasonObserver() = default;

  // A policy made this plan for this view; it is not carried out yet. The next decision is at
  // `next_us` at the latest (kNever: nobody knows).
  virtual void decided(const ClusterView& /*view*/, const Plan& /*plan*/, TimeUs /*next_us*/) {}
  // A pending job waits for this reason from now on. Of jobs that arrive, start, are preempted or
  // evicted, the event log tells.
  virtual void reason_given(TimeUs at_us, JobId job, const Reason& reason) = 0;
  // Queue `slot` has this job at its head (invalid: none).
  virtual void head_changed(TimeUs at_us, std::uint32_t slot, JobId job) = 0;
};

}  // namespace berth
