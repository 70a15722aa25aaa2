// What this machine lets us hold tasks with: control groups of version 2 or 1 where we may make
// some, else pinning to CPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/local/wire.h"

namespace berth::local {

// The CPUs that this process may run on.
[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

// A hierarchy of control groups as this process sees it.
struct GroupMount {
  bool unified = false;
  std::vector<std::string> controllers;  // of version 1
  std::string own;                       // folder of the group that this process is in
};
// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
[[nodiscard]] std::vector<GroupMount> group_mounts(std::string_view mounts,
                                                   std::string_view groups);
[[nodiscard]] std::vector<GroupMount> own_group_mounts();

class Limits {
 public:
  // `name`: of the group that those of all attempts are in; another one for each data folder.
  // Makes it where it can. Without `enabled` nothing is limited.
  static Limits probe(const std::string& name, bool enabled, const std::vector<GroupMount>& mounts);

  [[nodiscard]] const GroupFolders& folders() const { return folders_; }
  // For a task that asks for so much; pins it to the CPUs least pinned to where that is how.
  [[nodiscard]] TaskLimits take(std::uint32_t cpu_milli, std::uint32_t memory_mib);
  void take(const std::vector<std::uint32_t>& cpus);
  void give_back(const std::vector<std::uint32_t>& cpus);
  // One line each, for people: what holds CPUs, what holds memory.
  [[nodiscard]] std::vector<std::string> describe() const;

 private:
  void probe_unified(const std::string& name, const std::string& own);

  bool enabled_ = false;
  GroupFolders folders_;
  std::vector<std::uint32_t> cpus_;
  std::vector<std::uint32_t> pinned_;  // how many tasks, by place in cpus_
  std::string unified_why_;            // why version 2 is not used
};

}  // namespace berth::local
