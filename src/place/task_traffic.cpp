#include "place/task_traffic.h"

namespace berth {

void TaskTraffic::read(const Job& job, const TaskGraph* graph) {
  first_.clear();
  if (graph == nullptr || job.tasks == 1) return;
  workers_ = job.workers();
  partitions_ = job.partitions();
  has_server_ = graph->comm == CommStructure::kParameterServer && job.parameter_servers > 0;
  in_ring_ = graph->comm == CommStructure::kAllReduce;
  exchange_.clear();
  for (const TaskSpec& task : graph->tasks) exchange_.push_back(task.exchange_bytes);
  first_.assign(partitions_ + 1, 0);
  for (const TaskEdge& edge : graph->edges) {
    ++first_[edge.from + 1];
    ++first_[edge.to + 1];
  }
  for (std::uint32_t p = 0; p < partitions_; ++p) first_[p + 1] += first_[p];
  peers_.resize(first_.back());
  next_.assign(first_.begin(), first_.end() - 1);
  for (const TaskEdge& edge : graph->edges) {
    peers_[next_[edge.from]++] = {edge.to, edge.bytes};
    peers_[next_[edge.to]++] = {edge.from, edge.bytes};
  }
}

}  // namespace berth
