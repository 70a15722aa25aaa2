#include "place/task_mapping.h"

#include <algorithm>
#include <map>
#include <utility>

#include "place/task_traffic.h"

namespace berth {
namespace {

// Saved if task a goes to the server of b, and b to that of a.
std::int64_t saved_by_swap(const TaskTraffic& traffic, std::span<const Placement> places,
                           std::uint32_t a, std::uint32_t b) {
  std::int64_t saved = 0;
  const auto add = [&](std::uint32_t task, std::uint32_t other) {
    traffic.for_each_peer(task, [&](std::uint32_t peer, std::int64_t bytes) {
      if (peer == other) return;
      if (places[peer].server == places[other].server) saved += bytes;
      if (places[peer].server == places[task].server) saved -= bytes;
    });
  };
  add(a, b);
  add(b, a);
  return saved;
}

}  // namespace

std::int64_t edge_bytes_between_servers(const TaskGraph& graph, std::span<const Placement> places) {
  std::int64_t bytes = 0;
  for (const TaskEdge& edge : graph.edges) {
    if (places[edge.from].server != places[edge.to].server) bytes += edge.bytes;
  }
  return bytes;
}

void map_tasks(const TaskGraph& graph, std::span<Placement> places) {
  const auto tasks = static_cast<std::uint32_t>(places.size());
  if (edge_bytes_between_servers(graph, places) == 0) return;
  Job replica;
  replica.tasks = tasks;
  TaskTraffic traffic;
  traffic.read(replica, &graph);
  // Each swap saves something, so this ends; most often after two passes.
  constexpr int kMostPasses = 8;
  bool saves = true;
  for (int pass = 0; pass < kMostPasses && saves; ++pass) {
    saves = false;
    for (std::uint32_t a = 0; a < tasks; ++a) {
      for (std::uint32_t b = a + 1; b < tasks; ++b) {
        if (places[a].server == places[b].server) continue;
        if (saved_by_swap(traffic, places, a, b) <= 0) continue;
        std::swap(places[a], places[b]);
        saves = true;
      }
    }
  }
}

ServerId parameter_server_place(const TaskGraph& graph, std::span<const Placement> places) {
  std::map<std::uint32_t, std::int64_t> bytes;  // by ServerId
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::size_t task = graph.tasks.empty() ? 0 : k % graph.tasks.size();
    bytes[places[k].server.value] +=
        graph.tasks.empty() ? 1 : std::max<std::int64_t>(1, graph.tasks[task].exchange_bytes);
  }
  const auto most =
      std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  return ServerId{most->first};
}

}  // namespace berth
