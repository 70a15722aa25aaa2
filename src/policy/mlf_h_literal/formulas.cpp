#include "policy/mlf_h_literal/formulas.h"

#include <algorithm>

#include "policy/common/graph_priority.h"

namespace berth {
namespace {

// Never 0, of the same sign.
double divisor_s(TimeUs us) {
  return seconds(us == 0 ? 1 : us);
}

}  // namespace

std::vector<TimeUs> times_after(const TaskGraph& graph) {
  std::vector<TimeUs> after(graph.tasks.size(), 0);
  // Edges are sorted by where they come from, and go to later tasks.
  for (auto edge = graph.edges.rbegin(); edge != graph.edges.rend(); ++edge) {
    after[edge->from] =
        std::max(after[edge->from], after[edge->to] + graph.tasks[edge->to].compute_us);
  }
  return after;
}

void literal_priorities(const LiteralWeights& weights, const Job& job, const TaskGraph* graph,
                        const LiteralFacts& facts, const std::vector<TimeUs>& waited_us,
                        std::vector<double>& out) {
  const std::uint32_t partitions = job.partitions();
  const double all = graph != nullptr ? static_cast<double>(graph->parameters()) : 0.0;
  const std::vector<TimeUs> after =
      graph != nullptr ? times_after(*graph) : std::vector<TimeUs>(partitions, 0);
  const double learning =
      facts.urgency / static_cast<double>(facts.iteration) * facts.last_reduction;
  std::vector<double> ml(partitions);
  std::vector<double> computation(partitions);
  out.clear();
  for (std::uint32_t r = 0; r < job.replicas; ++r) {
    for (std::uint32_t k = 0; k < partitions; ++k) {
      const double part = all > 0 ? static_cast<double>(graph->tasks[k].parameters) / all : 1.0;
      ml[k] = learning * part;                                                    // eq. 2
      computation[k] = weights.gamma_w * seconds(waited_us[r * partitions + k]);  // eq. 4
      if (facts.until_deadline_us) {
        computation[k] += weights.gamma_d / divisor_s(*facts.until_deadline_us - after[k]);
      }
      if (facts.remaining_us) computation[k] += weights.gamma_r / divisor_s(*facts.remaining_us);
    }
    if (graph != nullptr) {
      add_children(*graph, ChildRule::kSum, weights.gamma, ml);           // eq. 3
      add_children(*graph, ChildRule::kSum, weights.gamma, computation);  // eq. 5
    }
    for (std::uint32_t k = 0; k < partitions; ++k) {
      out.push_back(weights.alpha * ml[k] + (1.0 - weights.alpha) * computation[k]);  // eq. 6
    }
  }
  if (job.parameter_servers > 0) out.push_back(*std::ranges::max_element(out));
}

}  // namespace berth
