#include "engine/presets/replica_graph.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace berth::presets {
namespace {

// `total` in parts proportional to the weights, at least 1 each; `total` is at least their number.
std::vector<std::int64_t> divide(std::int64_t total, std::span<const double> weights) {
  const auto parts = static_cast<std::int64_t>(weights.size());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto spare = static_cast<double>(total - parts);
  std::vector<std::int64_t> out;
  out.reserve(weights.size());
  std::int64_t left = total;
  for (const double weight : weights) {
    out.push_back(1 + static_cast<std::int64_t>(spare * (weight / sum)));
    left -= out.back();
  }
  // Rounded down, less than a unit a part is left over; or a unit too much by rounding of doubles.
  out.back() += left;
  return out;
}

std::vector<double> weights(std::size_t n, Rng& rng) {
  std::vector<double> out(n);
  for (double& weight : out) weight = rng.uniform(0.5, 1.5);
  return out;
}

std::int64_t bytes_in(const ByteRange& range, Rng& rng) {
  return range.low == range.high ? range.low : rng.uniform_int(range.low, range.high);
}

void connect(TaskGraph& graph, const ReplicaPlan& plan, Rng& rng) {
  const auto [layers, width] = plan.shape;
  graph.edges.reserve(std::size_t{layers - 1} * width * width);
  for (std::uint32_t from = 0; from < (layers - 1) * width; ++from) {
    const std::uint32_t next_layer = (from / width + 1) * width;
    for (std::uint32_t to = next_layer; to < next_layer + width; ++to) {
      graph.edges.push_back({from, to, bytes_in(plan.bytes, rng)});
    }
  }
}

}  // namespace

TaskGraph replica_graph(const ReplicaPlan& plan, Rng& rng) {
  constexpr double kLeastOfLayer = 0.8;
  const auto [layers, width] = plan.shape;
  TaskGraph graph;
  graph.comm = plan.comm;
  if (layers * width == 1) {
    graph.tasks = {{plan.parameters, plan.compute_us, 0}};
  } else {
    const std::vector<std::int64_t> layer_us = divide(plan.compute_us, weights(layers, rng));
    const std::vector<std::int64_t> parameters =
        divide(plan.parameters, weights(std::size_t{layers} * width, rng));
    graph.tasks.reserve(parameters.size());
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      const auto slowest = static_cast<std::uint32_t>(rng.below(width));
      for (std::uint32_t k = 0; k < width; ++k) {
        const double part = k == slowest ? 1.0 : rng.uniform(kLeastOfLayer, 1.0);
        const auto us = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(part * static_cast<double>(layer_us[layer])));
        graph.tasks.push_back({parameters[graph.tasks.size()], us, 0});
      }
    }
    connect(graph, plan, rng);
  }
  if (plan.comm != CommStructure::kNone) {
    for (TaskSpec& task : graph.tasks) task.exchange_bytes = bytes_in(plan.bytes, rng);
  }
  return graph;
}

}  // namespace berth::presets
