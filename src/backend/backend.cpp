#include "backend/backend.h"

#include <algorithm>

namespace berth {

bool AttemptEnd::success() const {
  const bool ran = kind == AttemptEndKind::kExited || kind == AttemptEndKind::kStopped;
  return ran && !tasks.empty() && std::all_of(tasks.begin(), tasks.end(), [](const TaskEnd& task) {
           return task.exit_code == 0;
         });
}

}  // namespace berth
