// What one job went through in a run: when it waited and why, when it ran and where.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/event_log.h"
#include "engine/reason_observer.h"
#include "model/cluster.h"
#include "report/priority.h"

namespace berth {

// A stretch of time in which nothing changed for the job.
struct JobSpan {
  enum class State : std::uint8_t { kWaits, kRuns, kEnded };

  TimeUs from_us = 0;
  TimeUs to_us = kNever;                 // kNever: until the end of the run
  EventKind began = EventKind::kArrive;  // what happened to the job last, at or before from_us
  State state = State::kWaits;
  Reason reason;           // of a job that waits
  JobId head;              // the head of its queue, if the reason is about one
  std::uint32_t gpus = 0;  // that its tasks and copies run on, shares counted as one
  std::vector<ServerId>
      servers;  // where it runs, each once, in the order of its tasks, then copies
};

class JobHistory final : public EventLog, public ReasonObserver {
 public:
  explicit JobHistory(JobId job) : job_(job) { wants_text_ = true; }

  // Has the policy's terms of the job noted: where its spans begin, and at the last decision at or
  // before `at_us`, if that is asked for. Both must outlive the run.
  void explain_by(const Policy& policy, const Predictors& predictors, std::optional<TimeUs> at_us) {
    policy_ = &policy;
    predictors_ = &predictors;
    asked_us_ = at_us;
  }

  void write(TimeUs at_us, EventKind kind, std::uint32_t id, std::span<const Placement> places,
             std::span<const TaskCopy> copies) override;
  void decided(const ClusterView& view, const Plan& plan, TimeUs next_us) override;
  void reason_given(TimeUs at_us, JobId job, const Reason& reason) override;
  void head_changed(TimeUs at_us, std::uint32_t slot, JobId job) override;

  [[nodiscard]] JobId job() const { return job_; }
  // By time, without gaps, from its arrival on; empty: it has not arrived. A span of no length is
  // there only where the job was preempted or evicted and started again at once.
  [[nodiscard]] const std::vector<JobSpan>& spans() const { return spans_; }
  // The one that holds at an instant; null: before its arrival.
  [[nodiscard]] const JobSpan* at(TimeUs at_us) const;
  // At the decision with which this span began; null: it has ended, or the policy gives no terms.
  [[nodiscard]] const PriorityExplanation* priority_at_start(const JobSpan& span) const;
  // At the last decision at or before the instant asked for.
  [[nodiscard]] const std::optional<PriorityExplanation>& priority_as_asked() const {
    return as_asked_;
  }

 private:
  [[nodiscard]] bool is_concerned(const ClusterView& view, const Plan& plan);
  void add(JobSpan next);
  void set_reason(TimeUs at_us, const Reason& reason);

  JobId job_;
  std::vector<JobId> heads_;  // by slot
  std::vector<JobSpan> spans_;

  const Policy* policy_ = nullptr;  // null: its terms are not asked for
  const Predictors* predictors_ = nullptr;
  std::optional<TimeUs> asked_us_;
  std::optional<JobState> seen_;  // at the last decision; nothing: it was changed there
  std::vector<PriorityExplanation> explanations_;  // by time, at most one an instant
  std::optional<PriorityExplanation> as_asked_;
};

}  // namespace berth
