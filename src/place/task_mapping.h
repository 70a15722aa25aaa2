// Which task goes to which of the places that a job was given, so that little is sent between
// servers: the tasks of a job ask for the same, so they can change places freely.
#pragma once

#include <cstdint>
#include <span>

#include "model/job.h"
#include "model/task_graph.h"
#include "model/view.h"

namespace berth {

// Bytes between servers per iteration of one replica: over the edges of the graph whose ends are on
// different servers. `places`: by task.
[[nodiscard]] std::int64_t edge_bytes_between_servers(const TaskGraph& graph,
                                                      std::span<const Placement> places);

// Reorders the places of one replica: pairs of tasks change places as long as that saves bytes
// (Kernighan and Lin, Bell System Technical Journal 1970, without their look ahead).
void map_tasks(const TaskGraph& graph, std::span<Placement> places);

// Where the parameter server receives most from its own server. `places`: of whole replicas, one
// after the other, not empty.
[[nodiscard]] ServerId parameter_server_place(const TaskGraph& graph,
                                              std::span<const Placement> places);

}  // namespace berth
