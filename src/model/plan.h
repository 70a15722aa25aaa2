// What a policy wants done: actions, and why each job that stays pending does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/job.h"
#include "model/reason.h"
#include "model/view.h"

namespace berth {

enum class ActionKind : std::uint8_t {
  kStartTask,       // job, task, to. A replica's tasks start together or not at all.
  kMoveTask,        // job, task, to. Moves of one job that stand together happen at once.
  kPreemptJob,      // job: all its tasks leave; it is pending again
  kPreemptReplica,  // job, value: that replica's tasks leave; pending again if it was the last
  kPreemptTask,     // job, task: it leaves, the rest of its replica stays and waits for it; only
                    // where parts of replicas may hold devices. Pending again if it was the last
  kCopyTask,        // job, task, to: a copy of a placed task on another server (TaskCopy)
  kDropCopy,        // job, task, to: the task's copy there goes
  kStopJob,         // job, value: ends it as stopped at that iteration (now, if it is past)
  kSetStop,         // job, value: StopOption
};

struct Action {
  ActionKind kind = ActionKind::kStartTask;
  JobId job;
  std::uint32_t task = 0;  // index within the job
  Placement to;
  std::int64_t value = 0;
};

// The tasks and places of the actions from `first` on that stand together, of one kind on one job:
// they are one action. Returns the index of the next one.
inline std::size_t read_group(std::span<const Action> actions, std::size_t first,
                              std::vector<TaskPlace>& tasks) {
  const Action& head = actions[first];
  tasks.clear();
  std::size_t next = first;
  for (; next < actions.size() && actions[next].kind == head.kind && actions[next].job == head.job;
       ++next) {
    tasks.push_back({actions[next].task, actions[next].to});
  }
  return next;
}

struct ReasonUpdate {
  JobId job;
  Reason reason;
};

// The job at the head of queue `slot`; reasons of code kBehindHead name the slot, so that 20,000
// waiting jobs need no new reason when the head changes.
struct HeadUpdate {
  std::uint32_t slot = 0;
  JobId job;  // invalid: the queue has no blocked head
};

struct Plan {
  Version view_version = 0;           // the view it was made for; refused if that is stale
  std::vector<Action> actions;        // applied in order: preemptions make room for later starts
  std::vector<ReasonUpdate> reasons;  // only those that changed
  std::vector<HeadUpdate> heads;
  TimeUs wake_us = kNever;  // decide again at this instant even if nothing happens

  void clear() {
    view_version = 0;
    actions.clear();
    reasons.clear();
    heads.clear();
    wake_us = kNever;
  }
};

}  // namespace berth
