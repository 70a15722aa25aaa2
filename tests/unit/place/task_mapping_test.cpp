#include "place/task_mapping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "support/workloads.h"

namespace berth {
namespace {

std::vector<Placement> on_servers(const std::vector<std::uint32_t>& servers) {
  std::vector<Placement> places;
  for (std::uint32_t k = 0; k < servers.size(); ++k) {
    places.push_back({ServerId{servers[k]}, DeviceId{k}});
  }
  return places;
}

// Each task of a layer feeds each of the next.
TaskGraph layers(std::uint32_t count, std::uint32_t width, std::int64_t bytes) {
  TaskGraph graph;
  graph.tasks.resize(std::size_t{count} * width);
  for (std::uint32_t layer = 1; layer < count; ++layer) {
    for (std::uint32_t from = 0; from < width; ++from) {
      for (std::uint32_t to = 0; to < width; ++to) {
        graph.edges.push_back({(layer - 1) * width + from, layer * width + to, bytes});
      }
    }
  }
  return graph;
}

TEST(TaskMapping, AChainIsCutOnce) {
  const TaskGraph chain = layers(4, 1, 10);
  std::vector<Placement> places = on_servers({0, 1, 0, 1});
  EXPECT_EQ(edge_bytes_between_servers(chain, places), 30);
  map_tasks(chain, places);
  EXPECT_EQ(edge_bytes_between_servers(chain, places), 10);
}

// Two layers of four on two servers of four: a layer each sends 16 edges, two and two send 8.
TEST(TaskMapping, LayersAreMixed) {
  const TaskGraph graph = layers(2, 4, 1);
  std::vector<Placement> places = on_servers({0, 0, 0, 0, 1, 1, 1, 1});
  EXPECT_EQ(edge_bytes_between_servers(graph, places), 16);
  map_tasks(graph, places);
  EXPECT_EQ(edge_bytes_between_servers(graph, places), 8);
}

// The same places, in another order, and never more bytes.
TEST(TaskMapping, NeverWorse) {
  for (int seed = 0; seed < testing::cases(200); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(static_cast<std::uint64_t>(seed));
    const auto width = static_cast<std::uint32_t>(rng.uniform_int(1, 4));
    TaskGraph graph = layers(static_cast<std::uint32_t>(rng.uniform_int(1, 8)), width, 0);
    for (TaskEdge& edge : graph.edges) edge.bytes = rng.uniform_int(0, 100);
    std::vector<std::uint32_t> servers;
    for (std::size_t k = 0; k < graph.tasks.size(); ++k) {
      servers.push_back(static_cast<std::uint32_t>(rng.below(4)));
    }
    std::vector<Placement> places = on_servers(servers);
    const std::vector<Placement> before = places;
    map_tasks(graph, places);
    EXPECT_LE(edge_bytes_between_servers(graph, places), edge_bytes_between_servers(graph, before));
    EXPECT_TRUE(std::ranges::is_permutation(places, before));
  }
}

TEST(TaskMapping, TheParameterServerGoesWhereItReceivesMost) {
  TaskGraph graph = layers(3, 1, 0);
  graph.tasks[0].exchange_bytes = 50;
  graph.tasks[1].exchange_bytes = 30;
  graph.tasks[2].exchange_bytes = 40;
  EXPECT_EQ(parameter_server_place(graph, on_servers({2, 1, 1})), ServerId{1U});
  EXPECT_EQ(parameter_server_place(graph, on_servers({2, 1, 0})), ServerId{2U});
  // Of a job without a graph where most of its tasks are; of equals the first server.
  EXPECT_EQ(parameter_server_place({}, on_servers({3, 1, 1})), ServerId{1U});
  EXPECT_EQ(parameter_server_place({}, on_servers({3, 1})), ServerId{1U});
}

}  // namespace
}  // namespace berth
