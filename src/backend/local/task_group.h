// The control group of a task: what holds it within its CPUs and memory, where the kernel lets us.
#pragma once

#include <string>

#include "backend/local/wire.h"
#include "base/result.h"

namespace berth::local {

class TaskGroup {
 public:
  // Makes what is needed in `folders`; a task without limits needs nothing in version 1.
  [[nodiscard]] static Result<TaskGroup> make(const GroupFolders& folders, const std::string& key,
                                              const TaskRequest& task);

  // Puts the calling process into it. False: errno says why.
  [[nodiscard]] bool join() const;
  // The kernel has ended a process of it that wanted more memory than it may have.
  [[nodiscard]] bool out_of_memory() const;
  // Ends every process in it at once, where the kernel can (version 2).
  void kill() const;
  // When no process is left in it.
  void remove() const;

  // Of an attempt whose supervisor is gone, whatever there is of it.
  static void kill_all(const GroupFolders& folders, const std::string& key, std::uint32_t task);
  static void remove_all(const GroupFolders& folders, const std::string& key, std::uint32_t task);

 private:
  std::string unified_;  // "": none
  std::string cpu_;
  std::string memory_;
};

}  // namespace berth::local
