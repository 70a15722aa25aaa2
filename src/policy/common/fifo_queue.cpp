#include "policy/common/fifo_queue.h"

namespace berth {

void FifoPolicyBase::reset(const Round& round) {
  queue_.clear();
  queue_.grow(round.view.jobs.size());
  newly_filed_.clear();
}

void FifoPolicyBase::file_job(const Round& round, JobId id) {
  const bool queued = queue_.contains(id.value);
  if (round.view.state(id).status != JobStatus::kPending) {
    if (queued) dequeue(id);
    return;
  }
  if (queued || !waits_for_places(round, id)) return;
  queue_.grow(id.index() + 1);
  enqueue(round, id);
  newly_filed_.push_back(id);
}

JobId FifoPolicyBase::start_heads(const Round& round) {
  while (!queue_.empty()) {
    const JobId head{queue_.first()};
    if (!try_start(round, head)) return head;
    dequeue(head);
  }
  return {};
}

void FifoPolicyBase::give_reasons(const Round& round, JobId head) {
  const Reason behind{.code = ReasonCode::kBehindHead, .subject = kSlot};
  if (head.valid()) give_reason(round, head, shortage(round.view.job(head)));
  const JobId old_head = round.view.head(kSlot);
  if (old_head != head && old_head.valid() && queue_.contains(old_head.value)) {
    give_reason(round, old_head, behind);
  }
  for (const JobId id : newly_filed_) {
    if (id != head && queue_.contains(id.value)) give_reason(round, id, behind);
  }
  newly_filed_.clear();
  set_head(round, kSlot, head);
}

}  // namespace berth
