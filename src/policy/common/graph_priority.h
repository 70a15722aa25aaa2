// How tasks of a replica pass priority on to those that they wait for (MLFS, eq. 3 and 5): a child
// of a task is one that depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/task_graph.h"

namespace berth {

enum class ChildRule : std::uint8_t {
  kSum,         // own + gamma * sum over children, as published
  kConvexMean,  // (own + gamma * mean over children) / (1 + gamma); own without children
};

// `values`: by task, their own on entry. A sum may become infinite in a long graph.
inline void add_children(const TaskGraph& graph, ChildRule rule, double gamma,
                         std::span<double> values) {
  std::size_t edge = graph.edges.size();
  for (std::size_t k = values.size(); k-- > 0;) {
    double sum = 0.0;
    std::uint32_t children = 0;
    // Edges are sorted by where they come from, and go to later tasks.
    for (; edge > 0 && graph.edges[edge - 1].from == k; --edge, ++children) {
      sum += values[graph.edges[edge - 1].to];
    }
    if (children == 0) continue;
    if (rule == ChildRule::kSum) {
      values[k] += gamma * sum;
    } else {
      values[k] = (values[k] + gamma * sum / children) / (1.0 + gamma);
    }
  }
}

}  // namespace berth
