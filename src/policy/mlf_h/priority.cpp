#include "policy/mlf_h/priority.h"

#include <algorithm>
#include <vector>

#include "policy/common/graph_priority.h"

namespace berth {
namespace {

// A factor that counts so much.
double weighted(double factor, double weight) {
  return 1.0 - weight + weight * factor;
}

}  // namespace

double best_size(const TaskGraph& graph, double gamma) {
  const auto all = static_cast<double>(graph.parameters());
  if (all <= 0) return 1.0;
  std::vector<double> values;
  values.reserve(graph.tasks.size());
  for (const TaskSpec& task : graph.tasks) {
    values.push_back(static_cast<double>(task.parameters) / all);
  }
  add_children(graph, ChildRule::kConvexMean, gamma, values);
  return *std::ranges::max_element(values);
}

double loss_factor(double first, double before, double now, std::int64_t last, std::int64_t done) {
  const double mean = (first - now) / static_cast<double>(done);
  const double late = (before - now) / static_cast<double>(last);
  if (!(mean > 0) || !(late > 0)) return 0.0;
  return std::min(1.0, late / mean);
}

double feasible_laxity(TimeUs remaining_us, std::optional<TimeUs> until_deadline_us) {
  if (!until_deadline_us || *until_deadline_us <= 0 || remaining_us > *until_deadline_us) {
    return 0.0;
  }
  return static_cast<double>(remaining_us) / static_cast<double>(*until_deadline_us);
}

MlfTerms mlf_terms(const MlfWeights& weights, const MlfFacts& facts) {
  const auto tau = static_cast<double>(facts.tau_us);
  const auto waited = static_cast<double>(facts.waited_us);
  const double computation = 1.0 - weights.alpha;
  return {.ml = weights.alpha * weighted(facts.urgency, weights.urgency) *
                weighted(facts.loss, weights.loss) * weighted(facts.size, weights.size),
          .deadline = computation * weights.gamma_d * facts.laxity,
          .remaining =
              computation * weights.gamma_r * tau / (tau + static_cast<double>(facts.remaining_us)),
          .waiting = computation * weights.gamma_w * waited / (waited + tau)};
}

double most_priority(const MlfWeights& weights) {
  return weights.alpha +
         (1.0 - weights.alpha) * (weights.gamma_d + weights.gamma_r + weights.gamma_w);
}

}  // namespace berth
