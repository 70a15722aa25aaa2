// Puts machines together as a cluster, with the checks that every list of nodes needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/result.h"
#include "model/cluster.h"

namespace berth::trace {

class ClusterBuilder {
 public:
  explicit ClusterBuilder(std::string_view file);

  struct Node {
    std::string name;
    std::string gpu_type;  // "" where nothing is known
    std::int64_t gpus = 0;
    std::int64_t gpu_memory_mib = 0;  // 0: not stated
    std::int64_t cpu_milli = 0;       // 0: not stated
    std::int64_t memory_mib = 0;      // 0: not stated
  };
  // Errors: the name is there already, too many GPUs or GPU types. `line` is for messages.
  [[nodiscard]] Status add(const Node& node, std::uint64_t line);
  // Errors: no machine.
  [[nodiscard]] Result<Cluster> finish();

  [[nodiscard]] Error error(std::uint64_t line, std::string field, std::string message,
                            std::string found, std::string expected) const;

 private:
  Cluster cluster_;
  std::string file_;
  std::unordered_set<std::string> names_;
};

}  // namespace berth::trace
